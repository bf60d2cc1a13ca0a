import type { VenturiError } from "./errors.ts";
import type { Usage } from "./usage.ts";

/** Why a generation ended, normalised. `error` never appears here: a failed stream ends with an error delta. */
export type FinishReason = "stop" | "tool_calls" | "length" | "content_filter" | "refusal" | "pause" | "other";

export interface TextDelta {
  readonly type: "text";
  readonly text: string;
  readonly signature?: string;
}

export interface ReasoningDelta {
  readonly type: "reasoning";
  readonly text: string;
  /** Which reasoning part this belongs to; a new number starts a new part. Absent = the one that is open. */
  readonly part?: number;
  readonly signature?: string;
  readonly encrypted?: string;
  readonly id?: string;
}

export interface RefusalDelta {
  readonly type: "refusal";
  readonly text: string;
}

/**
 * A piece of a tool call. The decoder has already decided which call it belongs to: `index` is unique to a call within a
 * generation, dense from 0 in order of appearance, whatever the wire called it.
 */
export interface ToolCallDelta {
  readonly type: "tool_call";
  readonly index: number;
  /** Given once, by the first delta that knows it. A call whose wire has no id gets one from the accumulator. */
  readonly id?: string;
  readonly name?: string;
  /** The next piece of the arguments' JSON text; with `replace`, the whole of it instead of what came before. */
  readonly arguments?: string;
  readonly replace?: boolean;
  /** The wire said that this call is complete (block stop, item done, next index, a whole call in one chunk). */
  readonly sealed?: boolean;
  readonly signature?: string;
  /** The vendor's word for a call that is not of a function which the request offered (`custom_tool_call`, `shell_call`). */
  readonly kind?: string;
  /** Ordinal of the chunk that carried it, so that accumulation can be measured under its chunk. */
  readonly chunk?: number;
}

/** What the vendor's own servers did: a server-side tool, a citation, or a part that must go back verbatim (`keep`). */
export interface ActivityDelta {
  readonly type: "activity";
  readonly kind: "server_tool" | "citation" | "part";
  readonly wire: string;
  readonly data: unknown;
  readonly keep?: boolean;
}

export interface UsageDelta {
  readonly type: "usage";
  readonly usage: Usage;
}

/** What the provider says of its response, once known. */
export interface ResponseDelta {
  readonly type: "response";
  readonly id?: string;
  readonly model?: string;
}

/** The format's own good end. Comes at most once and is the last delta but for usage. */
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
