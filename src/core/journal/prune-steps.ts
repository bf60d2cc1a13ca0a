import { setTimeout as sleep } from "node:timers/promises";
import type { PruneOptions } from "./journal.ts";

/** Repeats `step`, which removes a few runs and returns how many, until none is left or the signal aborts. */
export async function pruneInSteps({ signal, rest = 0 }: PruneOptions, step: () => Promise<number>): Promise<number> {
  let count = 0;
  while (!signal?.aborted) {
    const start = rest > 0 ? performance.now() : 0;
    const gone = await step();
    if (!(gone > 0)) break; // Negated, so that NaN also ends the loop.
    count += gone;
    const ms = rest > 0 ? rest * (performance.now() - start) : 0;
    if (ms > 0) await sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => {}); // Aborted.
  }
  return count;
}
