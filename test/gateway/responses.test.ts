import { assert } from "chai";
import OpenAI from "openai";
import * as chat from "../plugins/openai/streams.ts";
import * as wire from "../plugins/openai-responses/streams.ts";
import { allSse } from "../sse.ts";
import { type Gateway, gateway, opened } from "./gateway.ts";

const path = "/openai/v1/responses";
// biome-ignore lint/suspicious/noExplicitAny: a vendor's objects, read by path
type Json = any;

describe("Responses before a Responses provider", () => {
  let open: Gateway;
  let client: OpenAI;
  beforeEach(async () => {
    open = await gateway({ provider: "openai-responses", agent: opened, answer: wire.text });
    client = new OpenAI({ apiKey: "none", baseURL: `${open.url}/openai/v1`, maxRetries: 0 });
  });
  afterEach(() => open.close());
  const ask = async (body: object): Promise<Json> => (await open.post(path, { model: "agent", ...body })).json();

  it("takes an item that is named by its id for the item itself", async () => {
    open.answer(wire.parallel);
    const tools = ["weather", "time"].map((name) => ({ type: "function", name, parameters: {} }));
    const first = await ask({ input: "Hi", tools });
    const calls = first.output.filter((item: Json) => item.type === "function_call");
    assert.lengthOf(calls, 2);
    open.answer(wire.text);
    const results = calls.map((call: Json) => ({
      type: "function_call_output",
      call_id: call.call_id,
      output: "fine",
    }));
    const second = await ask({
      input: [
        { role: "user", content: "Hi" },
        ...calls.map((call: Json) => ({ type: "item_reference", id: call.id })),
        ...results,
      ],
      tools,
    });
    assert.equal(second.status, "completed");
    const sent = open.bodies()[1]?.input as Json[];
    assert.deepEqual(
      sent.map((item) => [item.type ?? item.role, item.call_id, item.arguments ?? item.output]),
      [
        ["user", undefined, undefined],
        ["function_call", "a", '{"city":"Oslo"}'],
        ["function_call", "b", '{"zone":"CET"}'],
        ["function_call_output", "a", "fine"],
        ["function_call_output", "b", "fine"],
      ],
    );
    assert.notProperty(sent[1], "id");
  });

  it("says which item an id does not name", async () => {
    const id = "msg_run_0000000000000000000000000000_0";
    const response = await open.post(path, { model: "agent", input: [{ type: "item_reference", id }] });
    assert.equal(response.status, 400);
    assert.include(((await response.json()) as Json).error.message, id);
  });

  const namespace = {
    type: "namespace",
    name: "agents",
    description: "d",
    tools: [
      { type: "function", name: "spawn", parameters: { type: "object" }, strict: false },
      { type: "function", name: "wait", parameters: { type: "object" }, strict: false },
    ],
  };
  const hosted = [
    { type: "web_search", external_web_access: false },
    { type: "mcp", server_label: "a" },
    { type: "mcp", server_label: "b" },
  ];

  it("passes namespaces and the vendor's own tools on in their order, and calls and items back", async () => {
    const look = { type: "function", name: "look", parameters: { type: "object" }, strict: true };
    open.answer(
      wire.created +
        wire.added(0, '"id":"ws_1","type":"web_search_call","status":"in_progress"') +
        wire.finished(0, '"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search"}') +
        wire.added(1, `${wire.call("a", "spawn", "")},"namespace":"agents"`) +
        wire.finished(1, `${wire.call("a", "spawn", "{}")},"namespace":"agents"`) +
        wire.completed(),
    );
    const tools = [look, namespace, ...hosted];
    const response = await open.post(path, { model: "agent", input: "Hi", tools });
    assert.isNull(response.headers.get("venturi-warnings"));
    const body = (await response.json()) as Json;
    assert.deepEqual(open.bodies()[0]?.tools, tools);
    assert.deepEqual(body.tools, [{ ...look, description: null }, ...tools.slice(1)]);
    assert.deepInclude(body.output[0], { type: "web_search_call", action: { type: "search" } });
    assert.deepInclude(body.output[1], { type: "function_call", name: "spawn", namespace: "agents", call_id: "a" });
  });

  it("streams the items of the vendor's own tools", async () => {
    open.answer(
      wire.created +
        wire.added(0, '"id":"ws_1","type":"web_search_call","status":"in_progress"') +
        wire.finished(0, '"id":"ws_1","type":"web_search_call","status":"completed"') +
        wire.completed(),
    );
    const stream = client.responses.stream({ model: "agent", input: "Hi", tools: [{ type: "web_search" }] });
    const final = await stream.finalResponse();
    assert.deepInclude(final.output[0], { type: "web_search_call", status: "completed" });
  });

  it("repeats what was asked", async () => {
    const asked = {
      instructions: "Be brief.",
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 50,
      metadata: { a: "b" },
      tool_choice: "none",
      parallel_tool_calls: false,
      truncation: "auto",
      reasoning: { effort: "low", summary: "auto" },
      text: { format: { type: "json_object" }, verbosity: "low" },
      prompt_cache_key: "k",
      tools: [{ type: "function", name: "look", description: null, parameters: { type: "object" }, strict: true }],
    };
    const body = await ask({ input: "Hi", ...asked });
    assert.deepInclude(body, asked);
    const [sent] = open.bodies();
    const { tools, max_output_tokens, ...rest } = asked;
    assert.deepInclude(sent, rest);
    assert.deepInclude(await (await fetch(`${open.url}${path}/${body.id}`)).json(), asked);
  });

  it("gives reasoning as items, and takes it back to the provider that proved it", async () => {
    open.answer(wire.reasoning);
    const first = await ask({ input: "Hi", store: false, include: ["reasoning.encrypted_content"] });
    assert.deepEqual(
      first.output.map((item: Json) => item.type),
      ["reasoning", "message"],
    );
    assert.deepEqual(
      first.output[0].summary.map(({ text }: Json) => text),
      ["First, look.", "Then say."],
    );
    await ask({
      input: [{ role: "user", content: "Hi" }, ...first.output, { role: "user", content: "On" }],
      store: false,
    });
    const [, reasoning, message] = (open.bodies()[1] as Json).input;
    assert.deepInclude(reasoning, { type: "reasoning", id: "rs_1", encrypted_content: "Z0FBQQ==" });
    assert.deepInclude(message, { type: "message", role: "assistant" });
    const bare = await ask({ input: "Hi" });
    assert.notProperty(bare.output[0], "encrypted_content");
  });

  it("leaves instructions out of what the session remembers", async () => {
    const first = await ask({ input: "Hi", instructions: "One." });
    await ask({ input: "On", instructions: "Two.", previous_response_id: first.id });
    assert.deepInclude(open.bodies()[1], { instructions: "Two." });
    assert.notInclude(JSON.stringify(open.bodies()[1]?.input), "One.");
  });
});

describe("a response in the background", () => {
  let open: Gateway;
  let client: OpenAI;
  let release = () => {};
  beforeEach(async () => {
    open = await gateway({
      provider: "openai",
      answer: (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(chat.event('{"content":"Hel"}'));
        release = () => response.end(chat.event('{"content":"lo"}') + chat.stop + chat.done);
      },
    });
    client = new OpenAI({ apiKey: "none", baseURL: `${open.url}/openai/v1`, maxRetries: 0 });
  });
  afterEach(() => open.close());

  it("is answered at once and followed from any place on", async () => {
    const queued = await client.responses.create({ model: "agent", input: "Hi", background: true });
    assert.equal(queued.status, "queued");
    assert.isTrue(queued.background);
    const live = await fetch(`${open.url}${path}/${queued.id}?stream=true`);
    const reading = allSse(live);
    while (open.vendor.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const early = await client.responses.retrieve(queued.id);
    assert.include(["queued", "in_progress"], early.status);
    release();
    const events = await reading;
    assert.deepEqual(
      events.map(({ data }) => JSON.parse(data).sequence_number),
      events.map((_, index) => index),
    );
    assert.equal(events.at(-1)?.event, "response.completed");
    const rest = await allSse(await fetch(`${open.url}${path}/${queued.id}?stream=true&starting_after=3`));
    assert.deepEqual(rest, events.slice(4));
    const whole = await client.responses.retrieve(queued.id);
    assert.deepEqual([whole.status, whole.output_text], ["completed", "Hello"]);
    assert.deepEqual([early.created_at, whole.created_at], [queued.created_at, queued.created_at]);
    assert.deepEqual(JSON.parse(events.at(-1)?.data ?? "{}").response.output, whole.output);
  });

  it("is cancelled, and says so", async () => {
    const queued = await client.responses.create({ model: "agent", input: "Hi", background: true });
    const cancelled = await client.responses.cancel(queued.id);
    assert.equal(cancelled.status, "cancelled");
    assert.equal((await client.responses.retrieve(queued.id)).status, "cancelled");
  });

  it("lists what it was asked", async () => {
    const { id } = await client.responses.create({ model: "agent", input: "Hi", background: true });
    const items = await client.responses.inputItems.list(id);
    assert.deepInclude(items.data[0], { type: "message", role: "user" });
    release();
  });

  it("that was not stored or never was is not found", async () => {
    release();
    for (const id of ["resp_run_0000", "resp_x"]) {
      const response = await fetch(`${open.url}${path}/${id}`);
      assert.equal(response.status, 404);
      assert.equal(((await response.json()) as Json).error.type, "invalid_request_error");
    }
  });
});
