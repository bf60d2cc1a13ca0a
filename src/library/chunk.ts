import { fromJson, type VenturiError } from "../core/errors/errors.ts";
import { costsOf } from "../core/run/costs.ts";
import type { EventBody, EventOf, RunEvent } from "../core/run/events.ts";
import { emptyMap, withEntry } from "../core/values/no-entries.ts";

/** One item of an agent's stream. Only the last one has `finish` or `err`. */
export interface Chunk {
  readonly content?: string;
  /** Calls as they stream: argument fragments first, then each call once more, complete. */
  readonly toolCalls?: readonly (PartialCall | ToolCall)[];
  /** Any other event; in a plan's last chunk, the decision. */
  readonly action?: Action;
  /** How the run ended, with all its results. */
  readonly finish?: Finish;
  /** Why it failed. Output and usage so far are in `action`, the `run.failed` event. */
  readonly err?: VenturiError;
  readonly metadata: ChunkMetadata;
}

/** A call whose arguments are incomplete. The first fragment comes with the name and may be empty. */
export interface PartialCall {
  /** Index of the call within its round, from 0. */
  readonly index: number;
  readonly id: string;
  readonly name: string;
  /** The next fragment of the arguments' JSON text. */
  readonly argumentsDelta: string;
  readonly partial: true;
}

/** A call with complete arguments, parsed and validated against the tool's schema. */
export interface ToolCall {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly partial: false;
}

export type Action =
  | EventBody
  | { readonly type: "call"; readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly type: "answer"; readonly text: string };

/** The return values of a run. */
export interface Finish
  extends Pick<EventOf<"run.finished">, "output" | "object" | "usage" | "cost" | "totalCost" | "rounds" | "timing"> {
  /** `stop`, `length`, `max_rounds`, `tool_calls` when calls are left to the caller, … */
  readonly reason: string;
}

export interface ChunkMetadata {
  /** Empty if the call was cancelled before it started. */
  readonly run: string;
  readonly seq: number;
  readonly round?: number;
  /** When it happened, epoch ms. */
  readonly at: number;
  /** Since the start of the run, ms. */
  readonly sinceStartMs: number;
  /** Since the previous chunk, ms. */
  readonly gapMs: number;
}

/** Turns the events of one run into chunks. */
export class Chunks {
  #calls = emptyMap<string, { readonly index: number; readonly name: string }>();
  #start: number | undefined;
  #last = 0;

  /** The chunk for an event; undefined for events that a later one includes. */
  of(event: RunEvent): Chunk | undefined {
    this.#start ??= this.#last = event.at;
    // Almost every event is text, so it gets a single literal instead of copies.
    if (event.type === "text.delta") return { content: event.text, metadata: this.#metadata(event, event.round) };
    const chunk = this.#chunkOf(event);
    if (chunk === undefined) return undefined;
    return { ...chunk, metadata: this.#metadata(event, "round" in event ? event.round : undefined) };
  }

  #metadata({ run, seq, at }: RunEvent, round: number | undefined): ChunkMetadata {
    const sinceStartMs = at - (this.#start ?? at);
    const gapMs = at - this.#last;
    this.#last = at;
    return round === undefined ? { run, seq, at, sinceStartMs, gapMs } : { run, seq, round, at, sinceStartMs, gapMs };
  }

  #chunkOf(event: RunEvent): Omit<Chunk, "metadata"> | undefined {
    switch (event.type) {
      case "text.delta":
      case "refusal.delta":
        return { content: event.text };
      case "tool_call.started":
        this.#calls = withEntry(this.#calls, event.call, { index: event.index, name: event.name });
        return { action: bodyOf(event), toolCalls: [this.#partial(event.call, "")] };
      case "tool_call.delta":
        return { toolCalls: [this.#partial(event.call, event.arguments)] };
      case "tool_call.ready": {
        const { call: id, name } = event;
        const index = this.#calls.get(id)?.index ?? 0;
        return { toolCalls: [{ index, id, name, arguments: event.arguments, partial: false }] };
      }
      case "run.finished":
        return { finish: finishOf(event) };
      case "run.failed":
        return { err: fromJson(event.error), action: bodyOf(event) };
      case "provider.activity":
      case "message.added":
      case "generation.finished":
      case "context.compacted":
        return undefined;
      default:
        return { action: bodyOf(event) };
    }
  }

  #partial(id: string, argumentsDelta: string): PartialCall {
    const { index, name } = this.#calls.get(id) ?? { index: 0, name: "" };
    return { index, id, name, argumentsDelta, partial: true };
  }
}

export const isWhole = (call: PartialCall | ToolCall): call is ToolCall => !call.partial;

function bodyOf(event: RunEvent): EventBody {
  const { run: _run, seq: _seq, at: _at, ...body } = event;
  return body;
}

function finishOf(event: EventOf<"run.finished">): Finish {
  const { finish, output, object, usage, rounds, timing } = event;
  return {
    reason: finish,
    output,
    ...(object === undefined ? {} : { object }),
    usage,
    ...costsOf(event),
    rounds,
    timing,
  };
}
