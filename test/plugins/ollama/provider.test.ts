import { assert } from "chai";
import plugin from "../../../plugins/ollama/index.ts";
import { ask, tideTable } from "../conversation.ts";
import { fixture } from "../decoding.ts";
import { failure, generated, provider, streamed, vendor } from "../vendor.ts";

const whole = {
  model: "qwen-test:4b",
  message: {
    role: "assistant",
    thinking: "Hm.",
    content: "High water.",
    tool_calls: [{ function: { name: "tide_table", arguments: { port: "Kiel" } } }],
  },
  done: true,
  done_reason: "stop",
  prompt_eval_count: 4,
  eval_count: 5,
};

describe("the Ollama provider over HTTP", () => {
  let service: Awaited<ReturnType<typeof vendor>>;
  let fails: { status: number; body: unknown } | undefined;

  before(async () => {
    service = await vendor(({ body }, response) => {
      if (fails !== undefined) {
        response.writeHead(fails.status, { "content-type": "application/json" });
        response.end(JSON.stringify(fails.body));
      } else if (body.stream === true) {
        response.writeHead(200, { "content-type": "application/x-ndjson" });
        response.end(fixture("ollama", "thinking-and-tools.ndjson"));
      } else {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify(whole));
      }
    });
  });
  beforeEach(() => {
    fails = undefined;
    service.received.length = 0;
  });
  after(() => service.close());

  const connect = (options: Record<string, unknown> = {}) => provider(plugin, { baseUrl: service.url, ...options });

  it("streams what the server streams, without a key unless one is set", async () => {
    const port = await connect();
    const transcript = await streamed(port, ask({ tools: [tideTable] }));
    assert.equal(transcript.text, "Ich prüfe ⚓.");
    assert.equal(transcript.done?.finish, "tool_calls");
    assert.equal(service.received[0]?.url, "/api/chat");
    assert.notProperty(service.received[0]?.headers, "authorization");
    await port.close?.();
    const keyed = await connect({ apiKey: "cloud-key" });
    await streamed(keyed, ask());
    assert.equal(service.received[1]?.headers.authorization, "Bearer cloud-key");
    await keyed.close?.();
  });

  it("collects a whole answer into the same parts", async () => {
    const port = await connect();
    assert.deepEqual(await generated(port, ask()), {
      model: "qwen-test:4b",
      finish: "tool_calls",
      raw: "stop",
      usage: { inputTokens: 4, outputTokens: 5 },
      parts: [
        { type: "reasoning", text: "Hm." },
        { type: "text", text: "High water." },
        { type: "tool_call", call: "call_0", name: "tide_table", arguments: { port: "Kiel" } },
      ],
    });
    assert.equal(service.received[0]?.body.stream, false);
    await port.close?.();
  });

  it("maps failing statuses and says what the server said", async () => {
    const port = await connect();
    for (const [status, code] of [
      [400, "invalid_input"],
      [404, "not_found"],
      [429, "rate_limited"],
      [500, "unavailable"],
      [503, "unavailable"],
    ] as const) {
      fails = { status, body: { error: 'model "qwen" not found, try pulling it first' } };
      for (const act of [() => streamed(port, ask()), () => generated(port, ask())]) {
        const told = await failure(act);
        assert.equal(told.code, code, String(status));
        assert.include(told.message, "try pulling it first");
      }
    }
    await port.close?.();
  });
});
