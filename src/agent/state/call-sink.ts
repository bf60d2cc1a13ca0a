import type { CallState } from "./round-state.ts";

/** Receives the tool calls found in a generation's stream. */
export interface CallSink {
  /** The call is complete, valid and written. */
  sealed(call: CallState): void;
}
