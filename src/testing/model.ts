import type { Code } from "../core/errors/codes.ts";
import { VenturiError } from "../core/errors/errors.ts";
import type { Delta, FinishReason } from "../core/model/deltas.ts";
import type {
  Capabilities,
  GenerationContext,
  GenerationRequest,
  Provider,
  Generation as WholeGeneration,
} from "../core/model/provider.ts";
import type { Usage } from "../core/model/usage.ts";
import { type Clock, sleep, systemClock } from "../core/ports/clock.ts";
import { generationOf } from "../provider/collect.ts";

/** One batch of a scripted generation, like one network read. */
export type Scripted =
  | { readonly deltas: readonly Delta[] }
  | { readonly call: { readonly name: string; readonly arguments: string } }
  | { readonly wait: number }
  | { readonly until: (signal: AbortSignal) => Promise<unknown> }
  | { readonly fail: VenturiError };

interface CalledTool<Input> {
  readonly name: string;
  readonly call: (input: Input, context: never) => Promise<unknown>;
}

/** Tool calls are numbered within their generation when played. */
function sayCall<Input>(tool: CalledTool<Input>, input: NoInfer<Input>): Scripted;
function sayCall(index: number, name: string, input: unknown, id?: string): Scripted;
function sayCall(first: number | { readonly name: string }, second: unknown, third?: unknown, id?: string): Scripted {
  if (typeof first !== "number") return { call: { name: first.name, arguments: JSON.stringify(second) } };
  const name = String(second);
  const call = { index: first, id: id ?? `call-${name}-${first}`, name, arguments: JSON.stringify(third) };
  return { deltas: [{ type: "tool_call", ...call, sealed: true }] };
}

export interface FragmentedCall {
  readonly index?: number;
  readonly name: string;
  readonly input: unknown;
  /** Characters of a fragment. */
  readonly size: number;
  readonly id?: string;
}

/** Building blocks of a generation; strings are text. */
export const say = {
  text: (text: string): Scripted => ({ deltas: [{ type: "text", text }] }),
  reasoning: (text: string, more: { signature?: string; part?: number } = {}): Scripted => ({
    deltas: [{ type: "reasoning", text, ...more }],
  }),
  /** A complete call: by index and name, or by tool, whose arguments are then typed. */
  call: sayCall,
  /** The object an agent answers with. */
  object: <Output>(_agent: { readonly "~spec"?: { readonly output: Output } }, object: NoInfer<Output>): Scripted => ({
    deltas: [{ type: "text", text: JSON.stringify(object) }],
  }),
  /** A call in fragments of `size` characters, one batch each. */
  fragments({ index = 0, name, input, size, id = `call-${name}-${index}` }: FragmentedCall): Scripted[] {
    const text = JSON.stringify(input);
    const pieces: Scripted[] = [{ deltas: [{ type: "tool_call", index, id, name }] }];
    for (let at = 0; at < text.length; at += size) {
      pieces.push({ deltas: [{ type: "tool_call", index, arguments: text.slice(at, at + size) }] });
    }
    return [...pieces, { deltas: [{ type: "tool_call", index, sealed: true }] }];
  },
  usage: (usage: Usage): Scripted => ({ deltas: [{ type: "usage", usage }] }),
  done: (finish: FinishReason = "stop"): Scripted => ({ deltas: [{ type: "done", finish }] }),
  wait: (ms: number): Scripted => ({ wait: ms }),
  /** Pauses until the promise resolves; ends at once when the generation is cancelled. */
  until: (promise: (signal: AbortSignal) => Promise<unknown>): Scripted => ({ until: promise }),
  silence: (): Scripted => ({ until: () => new Promise(() => {}) }),
  fail: (code: Code, message = "scripted", details?: Record<string, unknown>): Scripted => ({
    fail: new VenturiError("provider.stream", code, message, details === undefined ? {} : { details }),
  }),
};

export type Generation = readonly (Scripted | string)[];

export interface ScriptedOptions {
  readonly clock?: Clock;
  /** False: a provider with `generate` only, which returns complete answers. */
  readonly streaming?: boolean;
}

/**
 * A provider that plays a script, generation by generation, and records its requests. A generation without a final `done`,
 * `fail` or pause gets a suitable `done`.
 */
export class ScriptedModel implements Provider {
  readonly capabilities: Capabilities;
  readonly stream?: NonNullable<Provider["stream"]>;
  readonly generate?: NonNullable<Provider["generate"]>;
  readonly requests: GenerationRequest[] = [];
  readonly contexts: GenerationContext[] = [];
  readonly #script: Generation[];
  readonly #clock: Clock;
  #open = 0;

  constructor(script: readonly Generation[], { clock = systemClock, streaming = true }: ScriptedOptions = {}) {
    this.#script = [...script];
    this.#clock = clock;
    this.capabilities = { streaming, tools: true, vision: true, reasoning: true };
    if (streaming) this.stream = (request, context) => this.#play(request, context);
    else this.generate = (request, context) => this.#whole(request, context);
  }

  /** Generations being read right now. */
  get open(): number {
    return this.#open;
  }

  /** Throws unless every scripted generation was requested. */
  assertUsed(): void {
    if (this.#script.length > 0) throw new Error(`${this.#script.length} scripted generations were not asked for`);
  }

  async #whole(request: GenerationRequest, context: GenerationContext): Promise<WholeGeneration> {
    const deltas: Delta[] = [];
    for await (const batch of this.#play(request, context)) deltas.push(...batch);
    return generationOf(deltas);
  }

  async *#play(request: GenerationRequest, context: GenerationContext): AsyncIterable<readonly Delta[]> {
    this.requests.push(request);
    this.contexts.push(context);
    const generation = this.#script.shift();
    if (generation === undefined)
      throw new VenturiError("provider.stream", "llm_error", "the script has no more generations");
    this.#open += 1;
    try {
      for (const piece of complete(generation)) {
        context.signal.throwIfAborted();
        if ("fail" in piece) throw piece.fail;
        else if ("wait" in piece) await sleep(this.#clock, piece.wait, context.signal);
        else if ("until" in piece) await orAborted(piece.until(context.signal), context.signal);
        else yield piece.deltas;
      }
    } finally {
      this.#open -= 1;
    }
  }
}

function complete(generation: Generation): Exclude<Scripted, { call: unknown }>[] {
  let calls = 0;
  const pieces = generation.map((piece): Exclude<Scripted, { call: unknown }> => {
    if (typeof piece === "string") return { deltas: [{ type: "text", text: piece }] };
    if (!("call" in piece)) return piece;
    const index = calls++;
    const call = { index, id: `call-${piece.call.name}-${index}`, ...piece.call };
    return { deltas: [{ type: "tool_call", ...call, sealed: true }] };
  });
  const ends = (piece: (typeof pieces)[number]) =>
    "fail" in piece || ("deltas" in piece && piece.deltas.some(({ type }) => type === "done"));
  if (pieces.some(ends)) return pieces;
  const called = pieces.some((piece) => "deltas" in piece && piece.deltas.some(({ type }) => type === "tool_call"));
  return [...pieces, { deltas: [{ type: "done", finish: called ? "tool_calls" : "stop" }] }];
}

function orAborted(promise: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}
