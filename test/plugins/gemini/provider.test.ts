import { assert } from "chai";
import plugin from "../../../plugins/gemini/index.ts";
import { ask, tideTable } from "../conversation.ts";
import { fixture } from "../decoding.ts";
import { failure, generated, provider, streamed, vendor } from "../vendor.ts";

const whole = {
  candidates: [
    {
      content: {
        role: "model",
        parts: [
          { text: "Hm.", thought: true },
          { text: "High water." },
          { functionCall: { name: "tide_table", args: { port: "Kiel" } }, thoughtSignature: "sig=" },
        ],
      },
      finishReason: "STOP",
    },
  ],
  usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 5, thoughtsTokenCount: 2 },
  modelVersion: "gemini-test-3",
  responseId: "r1",
};

describe("the Gemini provider over HTTP", () => {
  let service: Awaited<ReturnType<typeof vendor>>;
  let fails: { status: number; body: unknown } | undefined;

  before(async () => {
    service = await vendor(({ url }, response) => {
      if (fails !== undefined) {
        response.writeHead(fails.status, { "content-type": "application/json" });
        response.end(JSON.stringify(fails.body));
      } else if (url.includes(":streamGenerateContent")) {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(fixture("gemini", "thoughts-and-calls.sse"));
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

  const connect = () => provider(plugin, { baseUrl: `${service.url}/v1beta`, apiKey: "AIza-secret" });

  it("streams what the vendor streams, with its key in a header and not in the URL", async () => {
    const port = await connect();
    const transcript = await streamed(port, ask({ model: "gemini-test-3", tools: [tideTable] }));
    assert.equal(transcript.text, "Ich prüfe ⚓ beide.");
    assert.equal(transcript.done?.finish, "tool_calls");
    assert.equal(service.received[0]?.url, "/v1beta/models/gemini-test-3:streamGenerateContent?alt=sse");
    assert.equal(service.received[0]?.headers["x-goog-api-key"], "AIza-secret");
    await port.close?.();
  });

  it("collects a whole answer into the same parts", async () => {
    const port = await connect();
    assert.deepEqual(await generated(port, ask({ model: "gemini-test-3" })), {
      id: "r1",
      model: "gemini-test-3",
      finish: "tool_calls",
      raw: "STOP",
      usage: { inputTokens: 4, outputTokens: 7, reasoningTokens: 2, source: "reported" },
      parts: [
        { type: "reasoning", text: "Hm." },
        { type: "text", text: "High water." },
        { type: "tool_call", call: "call_0", name: "tide_table", arguments: { port: "Kiel" }, signature: "sig=" },
      ],
    });
    assert.equal(service.received[0]?.url, "/v1beta/models/gemini-test-3:generateContent");
    await port.close?.();
  });

  it("maps failing statuses, takes the time to wait from the body, and keeps the key out of the error", async () => {
    const port = await connect();
    const retry = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.5s" };
    const unknownKey = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" };
    for (const [status, details, code] of [
      [400, [], "invalid_input"],
      [400, [unknownKey], "unauthorized"],
      [403, [], "forbidden"],
      [404, [], "not_found"],
      [429, [retry], "rate_limited"],
      [503, [], "unavailable"],
    ] as const) {
      const error = { code: status, message: "no, AIza-secret", status: "X", details };
      for (const body of [{ error }, [{ error }]]) {
        fails = { status, body };
        for (const act of [() => streamed(port, ask()), () => generated(port, ask())]) {
          const told = await failure(act);
          assert.equal(told.code, code, String(status));
          assert.notInclude(JSON.stringify(told), "AIza-secret");
          if (status === 429) assert.equal(told.details?.retryAfterMs, 34_500);
        }
      }
    }
    await port.close?.();
  });
});
