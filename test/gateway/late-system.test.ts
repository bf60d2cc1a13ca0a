import { assert } from "chai";
import { begin, end, stop } from "../plugins/anthropic/events.ts";
import { type Gateway, gateway } from "./gateway.ts";

const call = { id: "c1", type: "function", function: { name: "look", arguments: "{}" } };
const chat = (role: string) => [
  { role: "system", content: "Be brief." },
  { role: "user", content: "Hi" },
  { role: "assistant", content: null, tool_calls: [call] },
  { role, content: "It is late." },
  { role: "tool", tool_call_id: "c1", content: "seen" },
  { role: "assistant", content: "Yes." },
  { role, content: "The user has left." },
];
const responses = (role: string) => [
  { role: "system", content: "Be brief." },
  { role: "user", content: "Hi" },
  { type: "function_call", call_id: "c1", name: "look", arguments: "{}" },
  { role, content: "It is late." },
  { type: "function_call_output", call_id: "c1", output: "seen" },
  { type: "message", role: "assistant", content: "Yes." },
  { role, content: "The user has left." },
];
const marked = (text: string) => `<system>\n${text}\n</system>`;
const gemini = 'data: {"candidates":[{"content":{"parts":[{"text":"ok"}]},"finishReason":"STOP"}]}\n\n';

// biome-ignore lint/suspicious/noExplicitAny: two vendors' requests, read by path
type Json = any;

describe("a system message within a conversation", () => {
  let open: Gateway;
  afterEach(() => open.close());

  for (const role of ["system", "developer"]) {
    for (const [path, body] of [
      ["/openai/v1/chat/completions", { messages: chat(role) }],
      ["/openai/v1/responses", { input: responses(role) }],
    ] as const) {
      it(`keeps its place at Anthropic as a user turn, after results it would part from their calls: ${role}, ${path}`, async () => {
        open = await gateway({ provider: "anthropic", answer: begin + stop("end_turn") + end });
        const response = await open.post(path, { model: "agent", ...body });
        assert.equal(response.status, 200, await response.text());
        assert.equal(response.headers.get("venturi-warnings"), "messages.role");
        const sent = open.bodies()[0] as Json;
        assert.equal(sent.system[0]?.text ?? sent.system, "Be brief.");
        const told = sent.messages.map((each: Json) => [
          each.role,
          ...each.content.map((block: Json) => block.text ?? block.type),
        ]);
        assert.deepEqual(told, [
          ["user", "Hi"],
          ["assistant", "tool_use"],
          ["user", "tool_result", marked("It is late.")],
          ["assistant", "Yes."],
          ["user", marked("The user has left.")],
        ]);
      });

      it(`keeps its place at Gemini: ${role}, ${path}`, async () => {
        open = await gateway({ provider: "gemini", answer: gemini });
        const response = await open.post(path, { model: "agent", ...body });
        assert.equal(response.status, 200, await response.text());
        assert.equal(response.headers.get("venturi-warnings"), "messages.role");
        const sent = open.bodies()[0] as Json;
        assert.equal(sent.systemInstruction.parts[0].text, "Be brief.");
        const told = sent.contents.map((each: Json) => [
          each.role,
          ...each.parts.map((part: Json) => part.text ?? Object.keys(part)[0]),
        ]);
        assert.deepEqual(told, [
          ["user", "Hi"],
          ["model", "functionCall"],
          ["user", "functionResponse"],
          ["user", marked("It is late.")],
          ["model", "Yes."],
          ["user", marked("The user has left.")],
        ]);
      });
    }
  }

  it("is not reported when it stands before everything else, or where the wire has a place for it", async () => {
    open = await gateway({ provider: "anthropic", answer: begin + stop("end_turn") + end });
    const before = [{ role: "system", content: "a" }, { role: "developer", content: "b" }, ...chat("user").slice(1)];
    const response = await open.post("/openai/v1/chat/completions", { model: "agent", messages: before });
    await response.text();
    assert.isNull(response.headers.get("venturi-warnings"));
    const own = [
      { role: "user", content: "Hi" },
      { role: "system", content: "late" },
    ];
    const same = await open.post("/anthropic/v1/messages", { model: "agent", max_tokens: 9, messages: own });
    await same.text();
    assert.isNull(same.headers.get("venturi-warnings"));
    const roles = (open.bodies().at(-1) as Json).messages.map((each: Json) => each.role);
    assert.deepEqual(roles, ["user", "system"]);
  });
});
