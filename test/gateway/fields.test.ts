import { assert } from "chai";
import * as chat from "../plugins/openai/streams.ts";
import * as responses from "../plugins/openai-responses/streams.ts";
import { allSse } from "../sse.ts";
import { type Gateway, gateway, opened } from "./gateway.ts";

const path = "/openai/v1/chat/completions";
const asked = {
  model: "agent",
  messages: [{ role: "user", name: "ada", content: "Hi" }],
  logit_bias: { "17": 1 },
  user: "u-1",
  parallel_tool_calls: false,
  tools: [
    { type: "function", function: { name: "look", parameters: { type: "object" }, strict: true } },
    { type: "web_search" },
  ],
  invented_tomorrow: { deep: [1] },
};

describe("a field of a request", () => {
  let open: Gateway;
  afterEach(() => open.close());

  it("goes on unchanged to a provider of the same wire, wherever it stands, if it may", async () => {
    open = await gateway({ provider: "openai", agent: opened, answer: chat.text });
    const response = await open.post(path, asked);
    assert.equal(response.status, 200);
    assert.isNull(response.headers.get("venturi-warnings"));
    const [body] = open.bodies();
    assert.deepInclude(body, {
      logit_bias: { "17": 1 },
      user: "u-1",
      parallel_tool_calls: false,
      invented_tomorrow: { deep: [1] },
      messages: asked.messages,
      tools: asked.tools,
    });
  });

  const lost = "logit_bias, invented_tomorrow, user, messages.name, tools.web_search";

  it("that another wire has no place for is named in a header, in the run's events and in a counter", async () => {
    open = await gateway({ provider: "openai-responses", answer: responses.text, measured: true });
    const response = await open.post(path, asked);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("venturi-warnings"), lost);
    const run = response.headers.get("x-venturi-run");
    const events = await allSse(await fetch(`${open.url}/v1/runs/${run}/events`));
    const started = events.find(({ event }) => event === "round.started");
    assert.deepEqual(JSON.parse(started?.data ?? "{}").warnings, lost.split(", "));
    assert.lengthOf(open.bodies()[0]?.tools as unknown[], 1);
    const metrics = await (await fetch(`${open.url}/metrics`)).text();
    assert.match(metrics, /venturi_request_unsent_fields\S*\{.*venturi_provider_key="up".*\} 5/);
  });

  it("is refused by a strict channel, which names it, before anything is asked", async () => {
    open = await gateway({
      provider: "openai-responses",
      answer: responses.text,
      channels: ", strict: { type: openai, prefix: /strict, compat: strict }",
    });
    const refused = await open.post("/strict/chat/completions", asked);
    assert.equal(refused.status, 400);
    const { error } = (await refused.json()) as { error: { message: string; param: string } };
    assert.include(error.message, "logit_bias");
    assert.equal(error.param, "logit_bias");
    assert.isEmpty(open.vendor.requests);
    const { logit_bias, user, parallel_tool_calls, invented_tomorrow, tools, ...rest } = asked;
    const plain = { ...rest, messages: [{ role: "user", content: "Hi" }], logprobs: false, user: null, stop: [] };
    assert.equal((await open.post("/strict/chat/completions", plain)).status, 200);
  });

  it("that is a setting which the wire does not have is reported too", async () => {
    open = await gateway({ provider: "openai-responses", answer: responses.text });
    const { messages, model } = asked;
    const response = await open.post(path, {
      model,
      messages: [{ ...messages[0], name: undefined }],
      seed: 3,
      stop: "x",
    });
    assert.equal(response.headers.get("venturi-warnings"), "stop, seed");
  });
});
