import type { CallState } from "./round-state.ts";

/** Receiver of the tool calls in a generation's stream. */
export interface CallSink {
  /** The call is complete, valid and written. */
  sealed(call: CallState): void;
}
