import fc from "fast-check";

export interface Target {
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: each target has values of its own type
  property(): fc.IAsyncProperty<any>;
  close?(): Promise<void>;
}

export interface Crash {
  readonly target: string;
  readonly seed: number;
  readonly path: string;
  readonly counterexample: string;
  readonly error: string;
}

/** Runs a target for so long, from the seed on. */
export async function fuzz(
  target: Target,
  options: { seed: number; ms: number; path?: string },
): Promise<{ runs: number; crash?: Crash }> {
  const { seed, ms, path } = options;
  const details = await fc.check(target.property(), {
    seed,
    numRuns: Number.MAX_SAFE_INTEGER,
    interruptAfterTimeLimit: ms,
    markInterruptAsFailure: false,
    ...(path === undefined ? {} : { path, endOnFailure: true, numRuns: 1 }),
  });
  if (!details.failed || details.counterexample === null) return { runs: details.numRuns };
  const crash: Crash = {
    target: target.name,
    seed,
    path: details.counterexamplePath ?? "",
    counterexample: fc.stringify(details.counterexample).slice(0, 10_000),
    error: String(details.errorInstance instanceof Error ? details.errorInstance.stack : details.errorInstance).slice(
      0,
      3_000,
    ),
  };
  return { runs: details.numRuns, crash };
}

/** The bound of the check itself: whatever waits longer hangs. */
export async function inTime<T>(work: T | Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("it hangs")), 60_000);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
