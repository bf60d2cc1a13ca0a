import { token } from "../values/token.ts";

/** Code of a plugin, and the run that called it. */
export interface Culprit {
  readonly what: string;
  readonly run: string;
  readonly tenant?: string | undefined;
}

export interface PastStall {
  /** Counts up. */
  readonly order: number;
  /** `gc`: the collector worked, not the code that it interrupted. */
  readonly part: "blocked" | "gc";
  readonly from: number;
  readonly ms: number;
  /** The code responsible, if known. */
  readonly culprit: Culprit | undefined;
  /** It is not known who was responsible, only that this one was under way. */
  readonly isGuess: boolean;
  /** False if the process used no processor meanwhile: it was suspended or starved, or waited for the system. */
  readonly busy: boolean;
}

/** Name of a stall in which the process did nothing. */
export const idle = "nothing was executed";
export const isIdle = (name: string): boolean => name.startsWith(idle);

/** How long synchronous code has blocked this process's event loop. */
export interface Stalls {
  /** Total, ms. */
  readonly totalMs: number;
  /** Order of the last one. */
  readonly last?: number;
  /** Those after that one, oldest first; their times are monotonic ms. */
  since?(order: number): readonly PastStall[];
  /** When the last stall of half a second or more ended, monotonic ms; now if it is only just ending. */
  longAt?(): number | undefined;
  /** Names the code that just ran for `ms` without yielding, for the stall report. */
  blame(culprit: Culprit, ms: number): void;
  /** This code is under way until the returned function is called. */
  during?(culprit: Culprit): () => void;
  /** Someone would suffer: looks closely until the returned function is called. */
  watch(): () => void;
}
export const Stalls = token<Stalls>("Stalls");

export const noStalls: Stalls = { totalMs: 0, blame: () => {}, watch: () => () => {} };
