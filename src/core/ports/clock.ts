import { performance } from "node:perf_hooks";
import { token } from "../values/token.ts";
/** Time source; tests replace it. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Monotonic milliseconds, microsecond resolution. */
  monotonic(): number;
  /** Calls back once after `ms`; the returned function cancels. */
  after(ms: number, callback: () => void): () => void;
  /** Calls back in the next turn of the event loop, after pending I/O. */
  turn(callback: () => void): void;
}
export const Clock = token<Clock>("Clock");

export const systemClock: Clock = {
  now: Date.now,
  monotonic: performance.now.bind(performance),
  after(ms, callback) {
    // Node fires timers longer than 2^31 ms immediately and warns about negative ones, so clamp to both ends.
    const timer = setTimeout(callback, Math.max(0, Math.min(ms, 2 ** 31 - 1)));
    return () => clearTimeout(timer);
  },
  turn: (callback) => void setImmediate(callback),
};

/** Resolves in the next turn of the event loop. */
export const nextTurn = (clock: Clock): Promise<void> => new Promise((resolve) => clock.turn(resolve));

/** Resolves after `ms`; rejects with the signal's reason as soon as it aborts. */
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
