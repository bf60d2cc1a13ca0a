import { token } from "../values/token.ts";

/** A plugin's code, and the run that called it. */
export interface Culprit {
  readonly what: string;
  readonly run: string;
  readonly tenant?: string | undefined;
}

export interface PastStall {
  /** Increasing number. */
  readonly order: number;
  /** `gc`: the garbage collector ran, not the code it interrupted. */
  readonly part: "blocked" | "gc";
  readonly from: number;
  readonly ms: number;
  /** The code responsible, if known. */
  readonly culprit: Culprit | undefined;
  /** Only this code was in progress; whether it was responsible is unknown. */
  readonly isGuess: boolean;
  /** False if the process used no CPU meanwhile: suspended, starved, or waiting for the system. */
  readonly busy: boolean;
}

/** Name of a stall during which the process did nothing. */
export const idle = "nothing was executed";
export const isIdle = (name: string): boolean => name.startsWith(idle);

/** How long synchronous code has blocked this process's event loop. */
export interface Stalls {
  /** Total, ms. */
  readonly totalMs: number;
  /** Number of the last one. */
  readonly last?: number;
  /** Stalls after that number, oldest first; times are monotonic ms. */
  since?(order: number): readonly PastStall[];
  /** When the last stall of at least half a second ended, monotonic ms; now, if it is just ending. */
  longAt?(): number | undefined;
  /** Names the code that just ran for `ms` without yielding, for the stall report. */
  blame(culprit: Culprit, ms: number): void;
  /** Marks this code as in progress until the returned function is called. */
  during?(culprit: Culprit): () => void;
  /** Samples more often until the returned function is called, for the time a stall would delay someone. */
  watch(): () => void;
}
export const Stalls = token<Stalls>("Stalls");

export const noStalls: Stalls = { totalMs: 0, blame: () => {}, watch: () => () => {} };
