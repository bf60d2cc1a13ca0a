export interface Retry {
  /** Attempts without progress before the error is thrown. */
  readonly attempts: number;
  /** First wait, ms; doubles up to `longest`. */
  readonly first: number;
  readonly longest: number;
}

/** Shortens the wait at random by up to half, so that clients of a restarted service do not all return at once. */
export function waitOf(failures: number, { first, longest }: Retry, retryAfter = 0): number {
  const wait = Math.min(longest, first * 2 ** (failures - 1));
  return Math.max(retryAfter, wait * (1 - Math.random() / 2));
}

/** A longer timer would fire at once. */
const longestTimer = 2 ** 31 - 1;

/** Rejects with the signal's reason when it aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const end = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener("abort", end);
        resolve();
      },
      Math.min(ms, longestTimer),
    );
    signal?.addEventListener("abort", end, { once: true });
  });
}
