import type { VenturiError } from "../errors/errors.ts";
import type { NativeAnswer } from "./native.ts";
import type { Usage } from "./usage.ts";

/** Why a generation ended, normalised. `error` never appears here: a failed stream ends with an error delta. */
export type FinishReason = "stop" | "tool_calls" | "length" | "content_filter" | "refusal" | "pause" | "other";

export interface TextDelta {
  readonly type: "text";
  readonly text: string;
  readonly signature?: string;
  readonly native?: NativeAnswer;
}

export interface ReasoningDelta {
  readonly type: "reasoning";
  readonly text: string;
  /** The reasoning part this belongs to; a new number starts a new part. Absent: the open part. */
  readonly part?: number;
  readonly signature?: string;
  readonly encrypted?: string;
  readonly id?: string;
  readonly native?: NativeAnswer;
}

export interface RefusalDelta {
  readonly type: "refusal";
  readonly text: string;
  readonly native?: NativeAnswer;
}

/**
 * A fragment of a tool call, already assigned to its call by the decoder: `index` identifies the call within a generation and
 * counts from 0 in order of appearance, whatever the wire uses.
 */
export interface ToolCallDelta {
  readonly type: "tool_call";
  readonly index: number;
  /** Sent once, by the first delta that knows it. Where the wire has no ids the accumulator assigns one. */
  readonly id?: string;
  readonly name?: string;
  /** The next fragment of the arguments' JSON text; with `replace`, the full text in place of earlier fragments. */
  readonly arguments?: string;
  readonly replace?: boolean;
  /** The wire marked this call as complete (block stop, item done, next index, or the whole call in one chunk). */
  readonly sealed?: boolean;
  readonly signature?: string;
  /** The vendor's type for a call that is not one of the request's functions (`custom_tool_call`, `shell_call`). */
  readonly kind?: string;
  /** On the delta with the name: the call's other fields. */
  readonly native?: NativeAnswer;
  /** Ordinal of the chunk it came in, so that accumulation can be attributed to its chunk. */
  readonly chunk?: number;
}

/**
 * Activity of the vendor's servers: a server-side tool, a citation, or a part that must be sent back verbatim (`keep`). `fields` belong to
 * the open element and have no other delta.
 */
export interface ActivityDelta {
  readonly type: "activity";
  readonly kind: "server_tool" | "citation" | "part" | "fields";
  readonly wire: string;
  readonly data: unknown;
  readonly keep?: boolean;
}

export interface UsageDelta {
  readonly type: "usage";
  readonly usage: Usage;
  /** The figures as the vendor sent them; later ones are merged over earlier ones. */
  readonly native?: NativeAnswer;
}

/** Response metadata from the provider, once known; `native` again whenever it has changed. */
export interface ResponseDelta {
  readonly type: "response";
  readonly id?: string;
  readonly model?: string;
  readonly native?: NativeAnswer;
}

/** The format's regular end. Sent at most once; only usage may follow. */
export interface DoneDelta {
  readonly type: "done";
  readonly finish: FinishReason;
  readonly raw?: string;
}

export interface ErrorDelta {
  readonly type: "error";
  readonly error: VenturiError;
}

export type Delta =
  | TextDelta
  | ReasoningDelta
  | RefusalDelta
  | ToolCallDelta
  | ActivityDelta
  | UsageDelta
  | ResponseDelta
  | DoneDelta
  | ErrorDelta;

/** How a chunk is counted. */
export type ChunkKind = "text" | "reasoning" | "tool_call" | "usage" | "done" | "error" | "other";

interface Weighted {
  readonly kind: ChunkKind;
  readonly weight: number;
}

export const noKind: Weighted = { kind: "other", weight: 0 };

/** What its deltas make of a chunk: the kind of the first of the heaviest ones. A table: it is read for every token. */
export const kindOfDelta: Readonly<Partial<Record<string, Weighted>>> = {
  text: { kind: "text", weight: 3 },
  refusal: { kind: "text", weight: 3 },
  reasoning: { kind: "reasoning", weight: 3 },
  tool_call: { kind: "tool_call", weight: 3 },
  error: { kind: "error", weight: 3 },
  done: { kind: "done", weight: 2 },
  usage: { kind: "usage", weight: 1 },
};
