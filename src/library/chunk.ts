import { fromJson, type VenturiError } from "../core/errors.ts";
import type { EventBody, EventOf, RunEvent } from "../core/events.ts";

/** One piece of an agent's stream. The last one has `finish` or `err`, and no other has. */
export interface Chunk {
  readonly content?: string;
  /** Calls as they stream: pieces of the arguments first, then each call once more, whole. */
  readonly toolCalls?: readonly (PartialCall | ToolCall)[];
  /** Everything else that happens, as its event tells it; in a plan's last chunk, what was decided. */
  readonly action?: Action;
  /** How the run ended, and all that it returns. */
  readonly finish?: Finish;
  /** Why it failed. What it had said and used until then is in `action`, the `run.failed` event. */
  readonly err?: VenturiError;
  readonly metadata: ChunkMetadata;
}

/** A call whose arguments have not all arrived. The first piece comes with the name and may be empty. */
export interface PartialCall {
  /** Counts the calls of a round from 0. */
  readonly index: number;
  readonly id: string;
  readonly name: string;
  /** The next piece of the arguments' JSON text. */
  readonly argumentsDelta: string;
  readonly partial: true;
}

/** A call with its arguments complete, parsed and checked against the tool's schema. */
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
export interface Finish extends Pick<EventOf<"run.finished">, "output" | "object" | "usage" | "rounds" | "timing"> {
  /** `stop`, `length`, `max_rounds`, `tool_calls` when calls are left to the caller, … */
  readonly reason: string;
}

export interface ChunkMetadata {
  /** Empty when the call was cancelled before it began. */
  readonly run: string;
  /** The event's place in the run. */
  readonly seq: number;
  readonly round?: number;
  /** When it happened, epoch ms. */
  readonly at: number;
  /** Between the start of the run and this, ms. */
  readonly sinceStartMs: number;
  /** Between the chunk before and this one, ms. */
  readonly gapMs: number;
}

/** Makes the chunks of one run of its events. */
export class Chunks {
  readonly #calls = new Map<string, { readonly index: number; readonly name: string }>();
  #start: number | undefined;
  #last = 0;

  /** The chunk that tells of an event; none for those that a later one tells whole. */
  of(event: RunEvent): Chunk | undefined {
    this.#start ??= this.#last = event.at;
    const told = this.#told(event);
    if (told === undefined) return undefined;
    const { run, seq, at } = event;
    const round = "round" in event ? { round: event.round } : {};
    const metadata = { run, seq, ...round, at, sinceStartMs: at - this.#start, gapMs: at - this.#last };
    this.#last = at;
    return { ...told, metadata };
  }

  #told(event: RunEvent): Omit<Chunk, "metadata"> | undefined {
    switch (event.type) {
      case "text.delta":
      case "refusal.delta":
        return { content: event.text };
      case "tool_call.started":
        this.#calls.set(event.call, { index: event.index, name: event.name });
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

function finishOf({ finish, output, object, usage, rounds, timing }: EventOf<"run.finished">): Finish {
  return { reason: finish, output, ...(object === undefined ? {} : { object }), usage, rounds, timing };
}
