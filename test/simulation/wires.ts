import { AnthropicDecoder } from "../../plugins/anthropic/decoder.ts";
import { bodyOf as anthropicBody } from "../../plugins/anthropic/request.ts";
import { GeminiDecoder } from "../../plugins/gemini/decoder.ts";
import { bodyOf as geminiBody } from "../../plugins/gemini/request.ts";
import { OllamaDecoder } from "../../plugins/ollama/decoder.ts";
import { bodyOf as ollamaBody } from "../../plugins/ollama/request.ts";
import { ChatDecoder } from "../../plugins/openai/decoder.ts";
import { dialectOf } from "../../plugins/openai/dialects.ts";
import { OpenAiOptions } from "../../plugins/openai/options.ts";
import { bodyOf as chatBody } from "../../plugins/openai/request.ts";
import { ResponsesDecoder } from "../../plugins/openai-responses/decoder.ts";
import { ResponsesOptions } from "../../plugins/openai-responses/options.ts";
import { bodyOf as responsesBody } from "../../plugins/openai-responses/request.ts";
import type { Finish, Piece } from "../../plugins/simulator/turn.ts";
import type { Answer, Route, Wire as ServerWire } from "../../plugins/simulator/wire.ts";
import { anthropic } from "../../plugins/simulator/wires/anthropic.ts";
import { gemini } from "../../plugins/simulator/wires/gemini.ts";
import { ollama } from "../../plugins/simulator/wires/ollama.ts";
import { openai } from "../../plugins/simulator/wires/openai.ts";
import { openaiResponses } from "../../plugins/simulator/wires/openai-responses.ts";
import type { Delta } from "../../src/core/model/deltas.ts";
import type { GenerationRequest } from "../../src/core/model/provider.ts";
import type { Wire } from "../../src/core/ports/plugin.ts";
import { exactJson } from "../../src/core/values/exact-json.ts";
import { Pipeline } from "../../src/provider/decode.ts";
import { lend } from "../provider/decoding.ts";
import type { Decisions } from "./decisions.ts";
import type { used } from "./money.ts";
import type { WireName } from "./wire-names.ts";

/** A vendor's wire with both of its ends: the product's, and the one that the simulator plugin serves. */
interface WireEnds {
  readonly server: ServerWire;
  readonly client: Wire;
  readonly body: (request: GenerationRequest) => unknown;
  readonly route?: Route;
  /** It tells a refusal from a text. */
  readonly refuses?: true;
}

const chatOptions = OpenAiOptions.parse({});
const chatAsking = {
  options: chatOptions,
  dialect: dialectOf(chatOptions.dialect, chatOptions.baseUrl),
  mode: "stream",
} as const;
const responsesOptions = ResponsesOptions.parse({});
const anthropicApi = { version: "2023-06-01", baseUrl: "https://api.anthropic.com" };
const geminiEnds = { server: gemini, body: geminiBody };

const wires: Readonly<Record<WireName, WireEnds>> = {
  openai: {
    server: openai,
    client: { framing: "sse", decoder: () => new ChatDecoder() },
    body: (request) => chatBody(request, chatAsking),
    refuses: true,
  },
  "openai-responses": {
    server: openaiResponses,
    client: { framing: "sse", decoder: () => new ResponsesDecoder() },
    body: (request) => responsesBody(request, responsesOptions, "stream"),
    refuses: true,
  },
  anthropic: {
    server: anthropic,
    client: { framing: "sse", decoder: () => new AnthropicDecoder() },
    body: (request) => anthropicBody(request, anthropicApi),
  },
  gemini: { ...geminiEnds, client: { framing: "sse", decoder: () => new GeminiDecoder() } },
  "gemini, one array": {
    ...geminiEnds,
    client: { framing: "json-array", decoder: () => new GeminiDecoder() },
    route: { array: true },
  },
  ollama: { server: ollama, client: { framing: "ndjson", decoder: () => new OllamaDecoder() }, body: ollamaBody },
};

/** One answer of a model as the bytes of a wire, in reads that end anywhere, and as the product's decoder reads them. */
export class WireAnswer {
  readonly #ends: WireEnds;
  readonly #pipeline: Pipeline;
  readonly #decisions: Decisions;
  readonly #route: Route;
  readonly #answers: Map<string, string | undefined>;
  #id = "";
  /** Bytes that were read, and those up to the last with content, once they are known: after them a wire may count as ended. */
  #read = 0;
  #content = Number.POSITIVE_INFINITY;

  constructor(name: WireName, decisions: Decisions, answers: Map<string, string | undefined>) {
    this.#ends = wires[name];
    this.#decisions = decisions;
    this.#answers = answers;
    this.#pipeline = new Pipeline("provider.stream", this.#ends.client);
    this.#route = { streaming: true, ...this.#ends.route };
  }

  get mayRefuse(): boolean {
    return this.#ends.refuses === true;
  }

  get over(): boolean {
    return this.#pipeline.finished;
  }

  /** The other end reads what the conversation has: each call with its arguments, as many results, every text. */
  checkAsked(request: GenerationRequest, say: (what: string) => void): void {
    const { server, body } = this.#ends;
    const prompt = server.read(JSON.parse(exactJson(body(request))), this.#route);
    const parts = request.messages.flatMap((message) => message.parts);
    const calls = parts.flatMap((part) => (part.type === "tool_call" ? [callText(part)] : []));
    const read = prompt.messages.flatMap((message) => message.calls.map(callText));
    if (read.join() !== calls.join()) say(`${server.name}: sent the calls ${read} for ${calls}`);
    const results = prompt.messages.flatMap((message) => message.results).length;
    const expected = parts.filter((part) => part.type === "tool_result").length;
    if (results !== expected) say(`${server.name}: sent ${results} results of ${expected}`);
    const texts = prompt.messages.map(({ text }) => text).join("\n");
    for (const part of parts)
      if (part.type === "text" && !texts.includes(part.text)) say(`${server.name}: "${part.text}" is not sent`);
  }

  /** The answer in reads; each returns what the decoder makes of it. */
  *reads(
    steps: readonly Delta[],
    finish: Finish,
    { id, model, usage }: { id: string; model: string; usage: typeof used },
  ): Generator<() => readonly Delta[]> {
    const { server, client } = this.#ends;
    const decisions = this.#decisions;
    const answer: Answer = {
      route: this.#route,
      prompt: {
        ...{ model, streaming: true, messages: [], tools: [], toolChoice: "auto" },
        ...{ schema: undefined, reasoning: false, usage: true },
      },
      turn: { pieces: steps.flatMap(piecesOf), finish },
      usage,
      id,
      shape: {
        ...{ duplicateIndex: false, missingEnd: false },
        missingId: decisions.chance(0.1),
        lateUsage: decisions.chance(0.1),
      },
    };
    this.#id = id;
    this.#answers.set(id, steps.map(saidIn).join(""));
    let bytes: Buffer = Buffer.alloc(0);
    const frames = server.frames(answer);
    const last = frames.findLastIndex(({ paced }) => paced);
    // Late usage looks like content, and an answer may go without it.
    if (last < 0 || answer.shape.lateUsage) this.#content = 0;
    for (const [at, { text }] of frames.entries()) {
      if (client.framing !== "json-array" && decisions.chance(0.03)) bytes = joined(bytes, server.unknown);
      bytes = joined(bytes, text);
      // What carries no content comes with the next that does.
      if (!frames[at]?.paced && at < frames.length - 1) continue;
      const length = decisions.chance(0.3) ? decisions.between(1, bytes.length) : bytes.length;
      const read = bytes.subarray(0, length);
      if (at === last && this.#content > 0) this.#content = this.#read + bytes.length;
      yield () => this.#take(read);
      bytes = bytes.subarray(length);
    }
    yield () => [...this.#take(bytes), ...this.#end()];
  }

  #take(read: Uint8Array): Delta[] {
    const out: Delta[] = [];
    this.#read += read.length;
    lend(read, (lent) => this.#pipeline.push(lent, out));
    return out;
  }

  /** The connection has ended, whatever was still to come. */
  #end(): Delta[] {
    const out: Delta[] = [];
    this.#pipeline.end(out);
    return out;
  }

  /** A fault that a server tells in its stream, bytes that mean nothing, or the end of the connection. */
  fail(): Delta[] {
    const { server } = this.#ends;
    const failure = { status: this.#decisions.pick([503, 429, 500]), message: "planted" };
    const words = this.#decisions.pick(["", server.malformed, server.broken(failure, this.#route)]);
    if (this.#read < this.#content) this.#answers.set(this.#id, undefined);
    return [...this.#take(Buffer.from(words)), ...this.#end()];
  }
}

const saidIn = (delta: Delta): string => (delta.type === "text" || delta.type === "refusal" ? delta.text : "");

const joined = (bytes: Buffer, text: string): Buffer => Buffer.concat([bytes, Buffer.from(text)]);

const callText = (call: { readonly name: string; readonly arguments: unknown }): string =>
  `${call.name} ${JSON.stringify(call.arguments)}`;

function piecesOf(delta: Delta): Piece[] {
  if (delta.type === "text" || delta.type === "refusal") return [{ type: delta.type, text: delta.text }];
  if (delta.type !== "tool_call") return [];
  const { index, id, name, arguments: text } = delta;
  return [
    ...(id === undefined || name === undefined ? [] : [{ type: "call", index, id, name } as const]),
    ...(text === undefined ? [] : [{ type: "arguments", index, text } as const]),
  ];
}
