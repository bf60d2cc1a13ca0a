import { token } from "../values/token.ts";

export interface PastStall {
  readonly from: number;
  readonly ms: number;
  /** The code responsible, if known. */
  readonly culprit: string | undefined;
}

/** How long synchronous code has blocked this process's event loop. */
export interface Stalls {
  /** Total, ms. */
  readonly totalMs: number;
  /** The stalls that ended after this moment, oldest first; monotonic ms. */
  since?(at: number): readonly PastStall[];
  /** When the last stall of half a second or more ended, monotonic ms; now if it is only just ending. */
  longAt?(): number | undefined;
  /** Names the code that just ran for `ms` without yielding, for the stall report. */
  blame(culprit: string, ms: number): void;
  /** Someone would suffer: looks closely until the returned function is called. */
  watch(): () => void;
}
export const Stalls = token<Stalls>("Stalls");

export const noStalls: Stalls = { totalMs: 0, blame: () => {}, watch: () => () => {} };
