import { token } from "./token.ts";

/** How long code that does not yield has kept this process from everything else. */
export interface Stalls {
  /** In all, ms. */
  readonly totalMs: number;
  /** Code that has just run for `ms` without yielding, for whoever reports the stall. */
  blame(culprit: string, ms: number): void;
}
export const Stalls = token<Stalls>("Stalls");

export const noStalls: Stalls = { totalMs: 0, blame: () => {} };
