import { assert } from "chai";
import plugin from "../../../plugins/anthropic/index.ts";
import { ask, tideTable } from "../conversation.ts";
import { fixture } from "../decoding.ts";
import { failure, generated, provider, type Received, streamed, vendor } from "../vendor.ts";

const message = {
  id: "msg_whole",
  type: "message",
  role: "assistant",
  model: "claude-test-1",
  content: [
    { type: "thinking", thinking: "Hm.", signature: "sig=" },
    { type: "text", text: "High " },
    { type: "text", text: "water." },
    { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "q" } },
    { type: "tool_use", id: "toolu_1", name: "tide_table", input: { port: "Kiel" } },
    { type: "tool_use", id: "toolu_2", name: "now", input: {} },
  ],
  stop_reason: "tool_use",
  usage: { input_tokens: 3, cache_read_input_tokens: 2, output_tokens: 9 },
};

describe("the Anthropic provider over HTTP", () => {
  let service: Awaited<ReturnType<typeof vendor>>;
  let fails: { status: number; headers?: Record<string, string>; body: unknown } | undefined;

  before(async () => {
    service = await vendor(({ body }, response) => {
      if (fails !== undefined) {
        response.writeHead(fails.status, { "content-type": "application/json", ...fails.headers });
        response.end(JSON.stringify(fails.body));
      } else if (body.stream === true) {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(fixture("anthropic", "thinking-and-tools.sse"));
      } else {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify(message));
      }
    });
  });
  beforeEach(() => {
    fails = undefined;
    service.received.length = 0;
  });
  after(() => service.close());

  const connect = (options: Record<string, unknown> = {}) =>
    provider(plugin, { baseUrl: service.url, apiKey: "sk-ant-secret", ...options });
  const last = (): Received | undefined => service.received.at(-1);

  it("streams what the vendor streams, with its key, version and betas in the headers", async () => {
    const port = await connect({ beta: ["a-1", "b-2"] });
    const transcript = await streamed(port, ask({ tools: [tideTable] }));
    assert.equal(transcript.text, "Ich prüfe beide Häfen ⚓.");
    assert.equal(transcript.done?.finish, "tool_calls");
    assert.equal(last()?.url, "/v1/messages");
    assert.deepInclude(last()?.headers, {
      "x-api-key": "sk-ant-secret",
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "a-1,b-2",
    });
    await port.close?.();
  });

  it("finds the API below a base with /v1 or without", async () => {
    for (const path of ["", "/", "/v1", "/v1/"]) {
      const port = await connect({ baseUrl: service.url + path });
      await generated(port, ask());
      assert.equal(last()?.url, "/v1/messages");
      await port.close?.();
    }
  });

  it("collects a whole answer into the same parts", async () => {
    const port = await connect();
    const generation = await generated(port, ask());
    assert.equal(last()?.body.stream, false);
    assert.deepEqual(generation, {
      id: "msg_whole",
      model: "claude-test-1",
      finish: "tool_calls",
      raw: "tool_use",
      usage: { inputTokens: 5, cacheReadTokens: 2, outputTokens: 9, source: "reported" },
      parts: [
        { type: "reasoning", text: "Hm.", signature: "sig=" },
        { type: "text", text: "High water." },
        {
          type: "opaque",
          wire: "anthropic-messages",
          data: { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "q" } },
        },
        { type: "tool_call", call: "toolu_1", name: "tide_table", arguments: { port: "Kiel" } },
        { type: "tool_call", call: "toolu_2", name: "now", arguments: {} },
      ],
    });
    await port.close?.();
  });

  it("maps failing statuses, and keeps the key out of the error", async () => {
    const port = await connect();
    for (const [status, type, code] of [
      [400, "invalid_request_error", "invalid_input"],
      [401, "authentication_error", "unauthorized"],
      [403, "permission_error", "forbidden"],
      [404, "not_found_error", "not_found"],
      [413, "request_too_large", "too_large"],
      [429, "rate_limit_error", "rate_limited"],
      [500, "api_error", "unavailable"],
      [529, "overloaded_error", "unavailable"],
    ] as const) {
      fails = {
        status,
        headers: status === 429 ? { "retry-after": "7" } : {},
        body: { type: "error", error: { type, message: "no, sk-ant-secret" } },
      };
      for (const act of [() => streamed(port, ask()), () => generated(port, ask())]) {
        const error = await failure(act);
        assert.equal(error.code, code, String(status));
        assert.notInclude(JSON.stringify(error), "sk-ant-secret");
        if (status === 429) assert.equal(error.details?.retryAfterMs, 7_000);
      }
    }
    await port.close?.();
  });

  it("does not ask for another try when a spend limit was reached", async () => {
    const port = await connect();
    const details = { error_code: "enforced_spend_limit_reached" };
    fails = { status: 429, body: { type: "error", error: { type: "rate_limit_error", message: "limit", details } } };
    assert.equal((await failure(() => streamed(port, ask()))).details?.retry, false);
    await port.close?.();
  });
});
