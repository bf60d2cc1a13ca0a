import type { Code } from "../core/errors/codes.ts";
import { type VenturiError, wrap } from "../core/errors/errors.ts";
import { type Clock, sleep } from "../core/ports/clock.ts";

const first = 50;
const longest = 2_000;

export interface Retry {
  readonly op: string;
  /** Code for errors without one. Only `journal_failed` is retried. */
  readonly otherwise?: Code;
  readonly clock: Clock;
  /** Gives up after this time, ms; without it only `signal` ends the retries. */
  readonly patience?: number;
  /** A function, so that callers can create the signal only after a failure. */
  readonly signal: () => AbortSignal;
  readonly onFailure?: (error: VenturiError, tries: number) => void;
}

/** Calls `ask` until it succeeds, with delays of 50 ms doubling up to 2 s. `ask` gets the number of failures so far. */
export async function retry<T>(ask: (tries: number) => Promise<T>, options: Retry): Promise<T> {
  const { op, otherwise, clock, patience = Number.POSITIVE_INFINITY } = options;
  const deadline = clock.monotonic() + patience;
  for (let tries = 0, wait = first; ; tries++, wait = Math.min(longest, wait * 2)) {
    try {
      return await ask(tries);
    } catch (thrown) {
      const error = wrap(op, thrown, otherwise);
      if (error.code !== "journal_failed" || clock.monotonic() >= deadline) throw error;
      options.onFailure?.(error, tries);
    }
    await sleep(clock, wait, options.signal());
  }
}
