import { performance } from "node:perf_hooks";
import { token } from "./token.ts";
/** Time, so that a test can own it. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Monotonic milliseconds with microsecond grain. */
  monotonic(): number;
  /** Calls back once after `ms`; the result takes it back. */
  after(ms: number, callback: () => void): () => void;
}
export const Clock = token<Clock>("Clock");

export const systemClock: Clock = {
  now: Date.now,
  monotonic: performance.now.bind(performance),
  after(ms, callback) {
    // Node fires timers past 2^31 ms at once, so a longer wait is cut to the longest it can hold; it warns of negative ones.
    const timer = setTimeout(callback, Math.max(0, Math.min(ms, 2 ** 31 - 1)));
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`, rejects with the signal's reason the moment it aborts. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = clock.after(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    const onAbort = () => {
      stop();
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
