import { assert } from "chai";
import * as chat from "../plugins/openai/streams.ts";
import { type Answer, type Gateway, gateway } from "./gateway.ts";

const user = [{ role: "user", content: "Hi" }];
const schema = { type: "object", properties: {} };
// biome-ignore lint/suspicious/noExplicitAny: three vendors' answers, read by path
type Json = any;

/** Each surface with a tool, and the calls it hands to its client. */
const surfaces = [
  {
    path: "/openai/v1/chat/completions",
    body: { messages: user },
    tools: [{ type: "function", function: { name: "look", parameters: schema } }],
    calls: ({ choices }: Json) =>
      (choices[0].message.tool_calls ?? []).map((each: Json) => [each.function.name, each.function.arguments]),
    finish: ({ choices }: Json) => choices[0].finish_reason,
    left: "tool_calls",
  },
  {
    path: "/openai/v1/responses",
    body: { input: "Hi" },
    tools: [{ type: "function", name: "look", parameters: schema }],
    calls: ({ output }: Json) =>
      output.filter(({ type }: Json) => type === "function_call").map((each: Json) => [each.name, each.arguments]),
    finish: ({ status }: Json) => status,
    left: "completed",
  },
  {
    path: "/anthropic/v1/messages",
    body: { messages: user, max_tokens: 9 },
    tools: [{ name: "look", input_schema: schema }],
    calls: ({ content }: Json) =>
      content
        .filter(({ type }: Json) => type === "tool_use")
        .map((each: Json) => [each.name, JSON.stringify(each.input)]),
    finish: ({ stop_reason }: Json) => stop_reason,
    left: "tool_use",
  },
];

const call = (name: string) =>
  chat.fragment(`"index":0,"id":"c1","type":"function","function":{"name":"${name}","arguments":"{\\"a\\":1}"}`) +
  chat.calls +
  chat.done;

describe("a call of a tool that the client did not send", () => {
  let open: Gateway;
  beforeEach(async () => {
    open = await gateway({
      provider: "openai",
      answer: call("elsewhere"),
      agents: "agents: { agent: { model: up/m }, owner: { model: up/m, tools: [clock] } }",
      more: "tools: { clock: { type: clock } }",
    });
  });
  afterEach(() => open.close());

  for (const { path, body, tools, calls, finish, left } of surfaces) {
    it(`is the client's, as with the vendor, and asks nothing more: ${path}`, async () => {
      const cases: [string, Json][] = [
        ["agent", {}],
        ["agent", { tools }],
        ["owner", { tools }],
      ];
      for (const [index, [model, sent]] of cases.entries()) {
        const answer = await (await open.post(path, { model, ...body, ...sent })).json();
        assert.deepEqual(calls(answer), [["elsewhere", '{"a":1}']], JSON.stringify(answer));
        assert.equal(finish(answer), left);
        assert.lengthOf(open.bodies(), index + 1, "the model was not asked again");
        const stream = await open.post(path, { model, ...body, ...sent, stream: true });
        assert.include(await stream.text(), '"elsewhere"');
        open.vendor.requests.pop();
      }
    });

    it(`is told to the model when only the agent has tools, and the rounds' texts are paragraphs: ${path}`, async () => {
      for (const stream of [false, true]) {
        let asked = 0;
        open.answer((response) => {
          asked += 1;
          const said = chat.event(`{"content":"${asked === 1 ? "Let me look." : "It is noon."}"}`);
          response.writeHead(200, { "content-type": "text/event-stream" });
          response.end(said + (asked === 1 ? call("elsewhere") : chat.stop + chat.done));
        });
        const response = await open.post(path, { model: "owner", ...body, stream });
        const text = await response.text();
        assert.equal(asked, 2);
        assert.notInclude(text, "elsewhere");
        if (path.endsWith("responses")) continue; // items of their own
        assert.match(text, stream ? /"\\n\\nIt is noon\."/ : /Let me look\.\\n\\nIt is noon\./);
      }
    });
  }

  it("has a name; one without is no call that anybody could answer", async () => {
    let asked = 0;
    open.answer((response) => {
      asked += 1;
      response.writeHead(200, { "content-type": "text/event-stream" });
      const odd = chat.fragment('"index":0,"id":"c1","function":{"arguments":"{}"}') + chat.calls + chat.done;
      response.end(asked === 1 ? odd : chat.text);
    });
    const answer: Json = await (
      await open.post("/openai/v1/chat/completions", { model: "agent", messages: user })
    ).json();
    assert.equal(answer.choices[0].finish_reason, "stop");
  });
});

/** Asked once: such a failure is not tried again. */
const absent: Answer = (response) => response.writeHead(404).end("{}");

describe("what clients of the vendors take for granted", () => {
  it("a namespace without tools is accepted, and sent on to a provider of the wire", async () => {
    const open = await gateway({ provider: "openai-responses", answer: absent });
    for (const tool of [
      { type: "namespace", name: "crm", description: "x" },
      { type: "namespace", name: "crm", tools: [] },
    ]) {
      const response = await open.post("/openai/v1/responses", { model: "agent", input: "Hi", tools: [tool] });
      assert.notEqual(response.status, 400, await response.text());
      assert.deepEqual(open.bodies().at(-1)?.tools, [tool]);
    }
    await open.close();
  });

  it("openai-beta, -organization and -project reach a provider of the wire, whose own settings come first", async () => {
    const said = { "openai-beta": "x=v1", "openai-organization": "org-client", "openai-project": "proj-client" };
    for (const [provider, path] of [
      ["openai", "/openai/v1/chat/completions"],
      ["openai-responses", "/openai/v1/responses"],
    ] as const) {
      const body = { model: "agent", messages: user, input: "Hi" };
      for (const settings of ["", ", organization: org-own"]) {
        const open = await gateway({ provider, settings, answer: absent });
        await (await open.post(path, body, said)).text();
        const headers = open.vendor.requests[0]?.request.headers ?? {};
        assert.deepInclude(headers, { "openai-beta": "x=v1", "openai-project": "proj-client" });
        assert.equal(headers["openai-organization"], settings === "" ? "org-client" : "org-own");
        assert.equal(headers.authorization, "Bearer key-1234");
        await open.close();
      }
    }
  });

  it("aliases are models of the Anthropic surface, whose base URL is with or without /v1", async () => {
    const open = await gateway({
      provider: "openai",
      answer: chat.text,
      agents: "agents: { agent: { model: up/m, aliases: [claude-sonnet-4-5, team/claude] } }",
    });
    const names = ["agent", "claude-sonnet-4-5", "team/claude"];
    for (const base of ["/anthropic", "/anthropic/v1"]) {
      const list: Json = await (await fetch(`${open.url}${base}/models`)).json();
      assert.deepEqual(
        list.data.map(({ id }: Json) => id),
        names,
      );
      assert.equal(list.last_id, "team/claude");
      for (const name of names) {
        assert.equal(((await (await fetch(`${open.url}${base}/models/${name}`)).json()) as Json).id, name);
        const body = { model: name, max_tokens: 9, messages: user };
        assert.equal((await open.post(`${base}/messages`, body)).status, 200);
        assert.equal((await open.post(`${base}/messages/count_tokens`, body)).status, 200);
      }
      const missing = await fetch(`${open.url}${base}/models/none`);
      assert.equal(missing.status, 404);
      assert.equal(((await missing.json()) as Json).error.type, "not_found_error");
    }
    const document: Json = await (await fetch(`${open.url}/openapi.json`)).json();
    assert.property(document.paths, "/anthropic/v1/messages");
    assert.notProperty(document.paths, "/anthropic/messages");
    await open.close();
  });

  it("a Responses answer says how many tokens were written to the cache", async () => {
    const open = await gateway({ provider: "openai", answer: chat.text });
    const answer: Json = await (await open.post("/openai/v1/responses", { model: "agent", input: "Hi" })).json();
    assert.deepEqual(answer.usage.input_tokens_details, { cached_tokens: 3, cache_write_tokens: 0 });
    await open.close();
  });
});
