import { expect } from "chai";
import { AnthropicDecoder } from "../../plugins/anthropic/decoder.ts";
import { GeminiDecoder } from "../../plugins/gemini/decoder.ts";
import { OllamaDecoder } from "../../plugins/ollama/decoder.ts";
import { ChatDecoder } from "../../plugins/openai/decoder.ts";
import { ResponsesDecoder } from "../../plugins/openai-responses/decoder.ts";
import type { ChunkKind, Delta } from "../../src/core/model/deltas.ts";
import type { Wire } from "../../src/core/ports/plugin.ts";
import { Pipeline } from "../../src/provider/decode.ts";

const chat: Wire = { framing: "sse", decoder: () => new ChatDecoder() };
const usage = { prompt_tokens: 7, completion_tokens: 2 };
const choice = (delta: object, finish_reason: string | null = null) => ({ index: 0, delta, finish_reason });
const begin = { id: "1", model: "m", choices: [choice({ role: "assistant", content: "Hi" })] };
const stop = { id: "1", model: "m", choices: [choice({}, "stop")] };

const streams: { name: string; wire: Wire; frames: readonly unknown[]; kinds: ChunkKind[] }[] = [
  {
    name: "openai, in its own frame",
    wire: chat,
    frames: [begin, stop, { id: "1", model: "m", choices: [], usage }, "[DONE]"],
    kinds: ["text", "other", "usage", "done"],
  },
  {
    name: "openai, without choices",
    wire: chat,
    frames: [begin, stop, { id: "1", model: "m", usage }, "[DONE]"],
    kinds: ["text", "other", "usage", "done"],
  },
  {
    name: "openai, with the finish reason",
    wire: chat,
    frames: [begin, { ...stop, usage }, "[DONE]"],
    kinds: ["text", "usage", "done"],
  },
  {
    name: "openai, beside each token",
    wire: chat,
    frames: [{ ...begin, usage }, { ...begin, usage }, { ...stop, usage }, "[DONE]"],
    kinds: ["text", "text", "usage", "done"],
  },
  {
    name: "openai, as Groq sends it",
    wire: chat,
    frames: [begin, { ...stop, x_groq: { usage } }, "[DONE]"],
    kinds: ["text", "usage", "done"],
  },
  {
    name: "anthropic",
    wire: { framing: "sse", decoder: () => new AnthropicDecoder() },
    frames: [
      {
        type: "message_start",
        message: { id: "1", model: "m", content: [], usage: { input_tokens: 7, output_tokens: 1 } },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
      { type: "message_stop" },
    ],
    kinds: ["usage", "other", "text", "other", "usage", "done"],
  },
  {
    name: "gemini",
    wire: { framing: "sse", decoder: () => new GeminiDecoder() },
    frames: [
      { candidates: [{ content: { parts: [{ text: "Hi" }] } }], usageMetadata: { promptTokenCount: 7 } },
      { candidates: [{ finishReason: "STOP" }], usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 2 } },
    ],
    kinds: ["text", "usage"],
  },
  {
    name: "openai-responses, with its end",
    wire: { framing: "sse", decoder: () => new ResponsesDecoder() },
    frames: [
      { type: "response.created", response: { id: "1", model: "m" } },
      { type: "response.completed", response: { status: "completed", output: [], usage: { input_tokens: 7 } } },
    ],
    kinds: ["other", "done"],
  },
  {
    name: "ollama, with its end",
    wire: { framing: "ndjson", decoder: () => new OllamaDecoder() },
    frames: [
      { model: "m", message: { content: "Hi" }, done: false },
      { model: "m", message: { content: "" }, done: true, done_reason: "stop", prompt_eval_count: 7, eval_count: 2 },
    ],
    kinds: ["text", "done"],
  },
];

describe("a chunk that carries usage is counted as such", () => {
  for (const { name, wire, frames, kinds } of streams) {
    it(name, () => {
      const seen: ChunkKind[] = [];
      const pipeline = new Pipeline("test.decode", wire, {
        observer: { chunk: (kind) => seen.push(kind), accumulated: () => {}, quirk: () => {} },
      });
      const out: Delta[] = [];
      for (const frame of frames) pipeline.push(Buffer.from(written(wire, frame)), out);
      pipeline.end(out);
      expect(seen).to.deep.equal(kinds);
      expect(out.filter(({ type }) => type === "usage")).to.have.length.greaterThan(0);
      expect(out.at(-1)?.type).to.equal("done");
    });
  }

  it("and its figures are reported once", () => {
    const pipeline = new Pipeline("test.decode", chat);
    const out: Delta[] = [];
    for (const frame of streams[0]?.frames ?? []) pipeline.push(Buffer.from(written(chat, frame)), out);
    const figures = out.flatMap((delta) => (delta.type === "usage" ? [delta.usage] : []));
    expect(figures).to.deep.equal([{ inputTokens: 7, outputTokens: 2 }]);
  });
});

function written({ framing }: Wire, frame: unknown): string {
  const text = typeof frame === "string" ? frame : JSON.stringify(frame);
  return framing === "ndjson" ? `${text}\n` : `data: ${text}\n\n`;
}
