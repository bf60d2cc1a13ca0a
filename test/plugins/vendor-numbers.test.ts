import { expect } from "chai";
import { AnthropicDecoder } from "../../plugins/anthropic/decoder.ts";
import { GeminiDecoder } from "../../plugins/gemini/decoder.ts";
import { OllamaDecoder } from "../../plugins/ollama/decoder.ts";
import { embeddingsOf as ollamaEmbeddings } from "../../plugins/ollama/embeddings.ts";
import { ChatDecoder } from "../../plugins/openai/decoder.ts";
import { embeddingsOf as openaiEmbeddings } from "../../plugins/openai/embeddings.ts";
import { ResponsesDecoder } from "../../plugins/openai-responses/decoder.ts";
import { errorOf } from "../../plugins/openai-responses/errors.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Delta } from "../../src/core/model/deltas.ts";
import type { Provider } from "../../src/core/model/provider.ts";
import { addUsage, mergeUsage, type Usage } from "../../src/core/model/usage.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import type { Wire } from "../../src/core/ports/plugin.ts";
import { ProviderRegistry } from "../../src/core/ports/registries.ts";
import { isTerminal } from "../../src/core/run/events.ts";
import { provide } from "../../src/core/values/token.ts";
import { openHost } from "../../src/host/open.ts";
import { Pipeline } from "../../src/provider/decode.ts";
import { retryHints } from "../../src/provider/http/response-error.ts";
import { retryAfter } from "../../src/serve/http-error.ts";
import { testFolder } from "../host/folder.ts";

/** As JSON, so that 1e400 is what a parser makes of it. */
const numbers = ["1e308", "1e400", "-1", "1e13", "-1e308", "1000000000001", "null", '"12"', "{}", "[7]", "true"];

const sse = (...frames: readonly string[]) => frames.map((frame) => `data: ${frame}\n\n`).join("");

/** Streams that end well, with the number wherever the wire has one. */
const wires: Record<string, { wire: Wire; text: (n: string) => string }> = {
  openai: {
    wire: { framing: "sse", decoder: () => new ChatDecoder() },
    text: (n) =>
      sse(
        '{"id":"1","model":"m","choices":[{"index":0,"delta":{"content":"Hi"}}]}',
        '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}',
        `{"choices":[],"usage":{"prompt_tokens":${n},"completion_tokens":${n},"cached_tokens":${n},"prompt_tokens_details":{"cached_tokens":${n},"cache_write_tokens":${n}},"completion_tokens_details":{"reasoning_tokens":${n}}}}`,
        "[DONE]",
      ),
  },
  anthropic: {
    wire: { framing: "sse", decoder: () => new AnthropicDecoder() },
    text: (n) => {
      const usage = `{"input_tokens":${n},"output_tokens":${n},"cache_read_input_tokens":${n},"cache_creation_input_tokens":${n},"output_tokens_details":{"thinking_tokens":${n}}}`;
      return sse(
        `{"type":"message_start","message":{"id":"1","model":"m","content":[],"usage":${usage}}}`,
        `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":${usage}}`,
        '{"type":"message_stop"}',
      );
    },
  },
  "openai-responses": {
    wire: { framing: "sse", decoder: () => new ResponsesDecoder() },
    text: (n) =>
      sse(
        `{"type":"response.completed","response":{"id":"1","status":"completed","output":[],"usage":{"input_tokens":${n},"output_tokens":${n},"input_tokens_details":{"cached_tokens":${n}},"output_tokens_details":{"reasoning_tokens":${n}}}}}`,
      ),
  },
  gemini: {
    wire: { framing: "sse", decoder: () => new GeminiDecoder() },
    text: (n) =>
      sse(
        `{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":${n},"candidatesTokenCount":${n},"thoughtsTokenCount":${n},"cachedContentTokenCount":${n},"toolUsePromptTokenCount":${n}}}`,
      ),
  },
  ollama: {
    wire: { framing: "ndjson", decoder: () => new OllamaDecoder() },
    text: (n) =>
      `{"model":"m","message":{"content":"Hi"},"done":true,"done_reason":"stop","prompt_eval_count":${n},"eval_count":${n}}\n`,
  },
};

const figures = ({ source: _, ...usage }: Usage): number[] => Object.values(usage);
const isRight = (value: number) => value >= 0 && value <= 1e12;

describe("a number of a vendor", () => {
  for (const [name, { wire, text }] of Object.entries(wires)) {
    it(`that cannot be a count is none, on the wire of ${name}`, () => {
      for (const number of numbers) {
        const out: Delta[] = [];
        const pipeline = new Pipeline("test.decode", wire);
        pipeline.push(Buffer.from(text(number)), out);
        pipeline.end(out);
        expect(out.at(-1)?.type, number).to.equal("done");
        for (const delta of out) if (delta.type === "usage") expect(figures(delta.usage), number).to.deep.equal([]);
      }
    });

    it(`that can be one is taken as it is, on the wire of ${name}`, () => {
      for (const number of ["0", "7", "1000000000000"]) {
        const out: Delta[] = [];
        const pipeline = new Pipeline("test.decode", wire);
        pipeline.push(Buffer.from(text(number)), out);
        pipeline.end(out);
        const told = out.flatMap((delta) => (delta.type === "usage" ? figures(delta.usage) : []));
        expect(told).to.include(Number(number));
        // Sums of several figures can still be too large: they are checked where usage enters a run.
        const merged = out.reduce<Usage>(
          (sum, delta) => (delta.type === "usage" ? mergeUsage(sum, delta.usage) : sum),
          {},
        );
        expect(figures(merged).every(isRight)).to.equal(true);
      }
    });
  }

  it("of a provider of anyone's is checked where it enters the run: its usage, its sums, its cost", async () => {
    for (const number of [1e308, Number.POSITIVE_INFINITY, Number.NaN, -5, 1e13]) {
      const usage = { inputTokens: number, outputTokens: 3, cacheReadTokens: number };
      const streaming: Provider = {
        capabilities: { streaming: true, tools: true, vision: false, reasoning: false },
        async *stream() {
          yield [
            { type: "text", text: "Hi" },
            { type: "usage", usage },
            { type: "done", finish: "stop" },
          ];
        },
        countTokens: async () => number,
        embed: async () => ({ vectors: [[0.5]], usage: { inputTokens: number } }),
      };
      const { stream: _, ...rest } = streaming;
      const whole: Provider = {
        ...rest,
        capabilities: { ...rest.capabilities, streaming: false },
        generate: async () => ({ parts: [{ type: "text", text: "Hi" }], finish: "stop", usage }) as never,
      };
      for (const provider of [streaming, whole]) {
        const host = await openHost({
          configFile: folder.write({ "venturi.yaml": config }),
          env: {},
          log: silentLog,
          replace: [provide(ProviderRegistry, { names: () => ["demo"], get: () => provider })],
        });
        const { run } = await host.runs.start({ agent: "assistant", input: { text: "go" } });
        for await (const batch of host.runs.follow(run)) {
          const last = batch.at(-1);
          if (last === undefined || !isTerminal(last)) continue;
          expect(figures(last.usage).every(isRight), JSON.stringify(last.usage)).to.equal(true);
          expect(last.usage).to.include({ outputTokens: 3, source: "partial" });
        }
        const { digest } = await host.runs.get(run);
        expect(digest?.cost).to.be.a("number").and.be.below(1);
        const counted = await host.runs.countInput({ agent: "assistant", input: { text: "go" } });
        expect(counted.source).to.equal("estimated");
        expect(isRight(counted.tokens)).to.equal(true);
        expect((await host.runs.embed({ agent: "assistant", input: ["a"] })).usage).to.deep.equal({
          source: "partial",
        });
        await host.close();
      }
    }
  });

  it("of an embedding is checked, and a vector is made of numbers", async () => {
    for (const number of [1e308, -1, "9", null]) {
      expect(openaiEmbeddings({ data: [{ embedding: [1] }], usage: { prompt_tokens: number } }).usage).to.deep.equal(
        {},
      );
      expect(ollamaEmbeddings({ embeddings: [[1]], prompt_eval_count: number }).usage).to.deep.equal({});
    }
  });

  it("of how long to wait is ignored when nobody could wait so long", () => {
    for (const value of ["1e308", "Infinity", "-5e300", "1e400", "NaN", "1000000000000"]) {
      for (const headers of [
        { "retry-after": value },
        { "retry-after-ms": value === "1000000000000" ? "1e13" : value },
      ]) {
        const { retryAfterMs = 0 } = retryHints(429, headers, undefined);
        expect(isRight(retryAfterMs), JSON.stringify(headers)).to.equal(true);
      }
      const metadata = { headers: { "X-RateLimit-Reset": value } };
      const { retryAfterMs = 0 } = retryHints(
        429,
        {},
        { error: { details: [{ retryDelay: `${"9".repeat(400)}s` }], metadata } },
      );
      expect(isRight(retryAfterMs)).to.equal(true);
    }
    const said = errorOf({ error: { code: "rate_limit", message: `try again in ${"9".repeat(400)}s` } });
    expect(said.details).not.to.have.property("retryAfterMs");
    for (const wait of [1e308, Number.NaN, Number.POSITIVE_INFINITY, -1]) {
      const error = new VenturiError("x.y", "rate_limited", "", { details: { retryAfterMs: wait } });
      expect(retryAfter(error)).to.deep.equal({ "retry-after": "1" });
    }
  });

  it("of a tool's own spending is checked too", () => {
    expect(addUsage({}, mergeUsage(undefined, { inputTokens: Number.NaN, outputTokens: 2 }))).to.deep.equal({
      outputTokens: 2,
      source: "partial",
    });
  });

  const folder = testFolder();
  const config = `
version: 1
providers: { demo: { type: simulator, pace: 0 } }
agents: { assistant: { model: demo/small } }
prices: { demo/small: { input: 3, output: 15 } }
journal: { type: memory }
channels: {}
telemetry: { logs: { level: silent } }
`;
});
