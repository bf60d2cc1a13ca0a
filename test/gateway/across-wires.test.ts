import { assert } from "chai";
import { begin, end, stop } from "../plugins/anthropic/events.ts";
import * as chat from "../plugins/openai/streams.ts";
import * as wire from "../plugins/openai-responses/streams.ts";
import { type Gateway, gateway, opened } from "./gateway.ts";

// biome-ignore lint/suspicious/noExplicitAny: three vendors' requests and answers, read by path
type Json = any;

const messages = begin + stop("end_turn") + end;
const schema = { type: "object", properties: {} };
const hi = [{ role: "user", content: "Hi" }];
const chatTool = { type: "function", function: { name: "look", parameters: schema, strict: true } };
const ownTool = { type: "function", name: "look", parameters: schema, strict: true };
const messagesTool = { name: "look", input_schema: schema, strict: true };
const image = "https://example.com/a.png";

describe("what a client of one wire asks, at a provider of another", () => {
  let open: Gateway;
  afterEach(() => open.close());

  const ask = async (path: string, body: Json): Promise<{ sent: Json; warnings: string | null }> => {
    const response = await open.post(path, { model: "agent", ...body });
    assert.equal(response.status, 200, await response.text());
    return { sent: open.bodies().at(-1), warnings: response.headers.get("venturi-warnings") };
  };

  it("from Chat Completions to Messages", async () => {
    open = await gateway({ provider: "anthropic", agent: opened, answer: messages });
    const { sent, warnings } = await ask("/openai/v1/chat/completions", {
      messages: hi,
      tools: [chatTool],
      parallel_tool_calls: false,
      service_tier: "default",
      user: "u-1",
    });
    assert.isNull(warnings);
    assert.deepEqual(sent.tool_choice, { type: "auto", disable_parallel_tool_use: true });
    assert.deepInclude(sent.tools[0], { name: "look", strict: true });
    assert.deepInclude(sent, { service_tier: "standard_only", metadata: { user_id: "u-1" } });
    const { sent: forced } = await ask("/openai/v1/chat/completions", {
      messages: hi,
      tools: [chatTool],
      tool_choice: "required",
      parallel_tool_calls: false,
    });
    assert.deepEqual(forced.tool_choice, { type: "any", disable_parallel_tool_use: true });
  });

  it("from Messages to both of OpenAI's wires", async () => {
    const asked = {
      max_tokens: 9,
      tools: [messagesTool],
      tool_choice: { type: "any", disable_parallel_tool_use: true },
      service_tier: "standard_only",
      metadata: { user_id: "u-1" },
      messages: [
        ...hi,
        { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "look", input: {} }] },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "c1", is_error: true, content: "no such file" }],
        },
      ],
    };
    open = await gateway({ provider: "openai", agent: opened, answer: chat.text });
    const first = await ask("/anthropic/v1/messages", asked);
    assert.isNull(first.warnings);
    const shared = { parallel_tool_calls: false, service_tier: "default", safety_identifier: "u-1" };
    assert.deepInclude(first.sent, { ...shared, tool_choice: "required" });
    assert.isTrue(first.sent.tools[0].function.strict);
    assert.equal(first.sent.messages.at(-1).content, "error: no such file");
    await open.close();
    open = await gateway({ provider: "openai-responses", agent: opened, answer: wire.text });
    const second = await ask("/anthropic/v1/messages", asked);
    assert.isNull(second.warnings);
    assert.deepInclude(second.sent, shared);
    assert.isTrue(second.sent.tools[0].strict);
    assert.equal(second.sent.input.at(-1).output, "error: no such file");
  });

  const both = {
    parallel_tool_calls: false,
    service_tier: "flex",
    user: "u-1",
    safety_identifier: "s-1",
    top_logprobs: 2,
  };

  it("from Chat Completions to Responses", async () => {
    open = await gateway({ provider: "openai-responses", agent: opened, answer: wire.text });
    const { sent, warnings } = await ask("/openai/v1/chat/completions", {
      ...both,
      metadata: { a: "b" },
      logprobs: true,
      verbosity: "low",
      tools: [chatTool],
      response_format: { type: "json_schema", json_schema: { name: "x", schema, strict: true, description: "d" } },
      messages: [
        {
          role: "user",
          content: [
            { type: "image_url", image_url: { url: image, detail: "low" } },
            { type: "file", file: { file_id: "file-1" } },
          ],
        },
      ],
    });
    assert.isNull(warnings);
    assert.deepInclude(sent, { ...both, metadata: { a: "b" } });
    assert.include(sent.include, "message.output_text.logprobs");
    assert.deepInclude(sent.text, { verbosity: "low" });
    assert.deepInclude(sent.text.format, { name: "x", strict: true, description: "d" });
    assert.isTrue(sent.tools[0].strict);
    assert.deepEqual(sent.input[0].content, [
      { type: "input_image", image_url: image, detail: "low" },
      { type: "input_file", file_id: "file-1" },
    ]);
  });

  it("from Responses to Chat Completions", async () => {
    open = await gateway({ provider: "openai", settings: ", dialect: openai", agent: opened, answer: chat.text });
    const { sent, warnings } = await ask("/openai/v1/responses", {
      ...both,
      metadata: { a: "b" },
      include: ["message.output_text.logprobs"],
      text: { verbosity: "low", format: { type: "json_schema", name: "x", schema, strict: true } },
      tools: [ownTool],
      input: [
        {
          role: "user",
          content: [
            { type: "input_image", image_url: image, detail: "low" },
            { type: "input_file", file_id: "file-1" },
          ],
        },
      ],
    });
    assert.isNull(warnings);
    assert.deepInclude(sent, { ...both, metadata: { a: "b" }, logprobs: true, verbosity: "low" });
    assert.isTrue(sent.response_format.json_schema.strict);
    assert.isTrue(sent.tools[0].function.strict);
    assert.deepEqual(sent.messages[0].content, [
      { type: "image_url", image_url: { url: image, detail: "low" } },
      { type: "file", file: { file_id: "file-1" } },
    ]);
  });

  it("is reported in the client's words where there is no equivalent, or the caller may not set it", async () => {
    open = await gateway({ provider: "anthropic", answer: messages });
    const asked = {
      messages: hi,
      metadata: { a: "b" },
      user: "u-1",
      verbosity: "low",
      store: true,
      service_tier: "flex",
    };
    const { sent, warnings } = await ask("/openai/v1/chat/completions", asked);
    assert.sameMembers((warnings ?? "").split(", "), ["metadata", "user", "verbosity", "store", "service_tier"]);
    assert.notProperty(sent, "metadata");
  });

  it("gets log probabilities in its own form", async () => {
    const logprobs = [{ token: "hi", bytes: [104], logprob: -1, top_logprobs: [] }];
    open = await gateway({
      provider: "openai",
      answer:
        chat
          .event('{"content":"hi"}')
          .replace('"index":0,', `"index":0,"logprobs":{"content":${JSON.stringify(logprobs)}},`) +
        chat.stop +
        chat.done,
    });
    const body = { model: "agent", input: "Hi", top_logprobs: 1, include: ["message.output_text.logprobs"] };
    const answer = (await (await open.post("/openai/v1/responses", body)).json()) as Json;
    assert.deepEqual(answer.output[0].content[0].logprobs, logprobs);
  });
});
