import { expect } from "chai";
import plugin from "../../../plugins/bedrock/index.ts";
import { ask, tideTable } from "../conversation.ts";
import { fixture } from "../decoding.ts";
import { failure, generated, provider, streamed, vendor } from "../vendor.ts";

const model = "eu.anthropic.claude-sonnet-5-v1:0";
const credentials = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "secret-key",
  sessionToken: "token-of-an-hour-or-so",
};

describe("the Bedrock provider over HTTP", () => {
  let service: Awaited<ReturnType<typeof vendor>>;
  let fails: { status: number; type: string; message: string } | undefined;

  before(async () => {
    service = await vendor(({ url }, response) => {
      if (fails !== undefined) {
        const type = `${fails.type}:http://internal.amazon.com/coral/com.amazon.bedrock/`;
        response.writeHead(fails.status, { "content-type": "application/json", "x-amzn-errortype": type });
        response.end(JSON.stringify({ message: fails.message }));
      } else if (url.endsWith("/converse-stream")) {
        response.writeHead(200, { "content-type": "application/vnd.amazon.eventstream" });
        response.end(fixture("bedrock", "thoughts-and-calls.bin"));
      } else if (url.endsWith("/count-tokens")) {
        response.writeHead(200, { "content-type": "application/json" }).end('{"inputTokens":17}');
      } else {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(
          '{"output":{"message":{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"Hm.","signature":"s="}}},{"text":"High water."},{"toolUse":{"toolUseId":"t1","name":"tide_table","input":{"n":12345678901234567890}}}]}},"stopReason":"tool_use","usage":{"inputTokens":4,"outputTokens":5,"totalTokens":9}}',
        );
      }
    });
  });
  beforeEach(() => {
    fails = undefined;
    service.received.length = 0;
  });
  after(() => service.close());

  const connect = (more: object = { credentials }) =>
    provider(plugin, { baseUrl: service.url, region: "eu-central-1", ...more });

  it("streams what Bedrock streams, with a signature for the region over an escaped model", async () => {
    const port = await connect();
    const transcript = await streamed(port, ask({ model, tools: [tideTable] }));
    expect(transcript.text).to.equal("Ich prüfe ⚓ beide.");
    const [asked] = service.received;
    expect(asked?.url).to.equal("/model/eu.anthropic.claude-sonnet-5-v1%3A0/converse-stream");
    expect(asked?.headers.authorization).to.match(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-central-1\/bedrock\/aws4_request, SignedHeaders=host;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
    );
    expect(asked?.headers["x-amz-security-token"]).to.equal("token-of-an-hour-or-so");
    await port.close?.();
  });

  it("collects a whole answer into the same parts, long numbers as they were written", async () => {
    const port = await connect({ apiKey: "bedrock-api-key-1" });
    const answer = await generated(port, ask({ model }));
    expect(answer?.finish).to.equal("tool_calls");
    expect(answer?.parts).to.deep.equal([
      { type: "reasoning", text: "Hm.", signature: "s=" },
      { type: "text", text: "High water." },
      {
        type: "tool_call",
        call: "t1",
        name: "tide_table",
        arguments: { n: Number("12345678901234567890") },
        text: '{"n":12345678901234567890}',
      },
    ]);
    expect(service.received[0]?.url).to.match(/\/converse$/);
    expect(service.received[0]?.headers.authorization).to.equal("Bearer bedrock-api-key-1");
    await port.close?.();
  });

  it("counts tokens where Bedrock does", async () => {
    const port = await connect();
    const context = {
      signal: new AbortController().signal,
      timeouts: { connect: 1e3, firstChunk: 1e3, idle: 1e3, total: 5e3 },
    };
    expect(await port.countTokens?.(ask({ model }), context as never)).to.equal(17);
    expect(service.received[0]?.body).to.have.nested.property("input.converse.messages");
    await port.close?.();
  });

  it("tells failures by the name in their header, and never the token that the answer repeats", async () => {
    const port = await connect();
    for (const [status, type, code, retryable] of [
      [429, "ThrottlingException", "rate_limited", true],
      [400, "ValidationException", "invalid_input", false],
      [403, "ExpiredTokenException", "unauthorized", false],
      [403, "AccessDeniedException", "forbidden", false],
      [424, "ModelErrorException", "llm_error", true],
      [429, "ModelNotReadyException", "unavailable", true],
      [404, "ResourceNotFoundException", "not_found", false],
    ] as const) {
      fails = { status, type, message: "The Canonical String was 'x-amz-security-token:token-of-an-hour-or-so'" };
      const error = await failure(() => streamed(port, ask({ model })));
      expect(error.code, type).to.equal(code);
      expect(error.details?.vendorCode).to.equal(type);
      expect(error.retryable || error.details?.retry === true, type).to.equal(retryable);
      expect(JSON.stringify(error) + error.stack).not.to.include("token-of-an-hour");
    }
    await port.close?.();
  });
});
