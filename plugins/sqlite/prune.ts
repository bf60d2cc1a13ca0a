import { pruneInSteps } from "venturi/internal";
import type { Log, PruneOptions } from "venturi/plugin";
import type { Asked } from "./store-thread.ts";

interface Pruner {
  readonly sweeper: number;
  /** Sweepers that remove runs by name. Others leave their rows alone: the caller waits until the records are gone. */
  readonly erasing: Set<number>;
  readonly log: Log;
}

export async function prune(thread: Asked, options: PruneOptions, { sweeper, erasing, log }: Pruner): Promise<number> {
  const { olderThan, keep, runs = [], signal } = options;
  if (signal?.aborted) return 0;
  const eraser = -sweeper;
  const isByName = runs.length > 0;
  if (isByName) erasing.add(eraser);
  try {
    const upTo = keep === undefined ? undefined : await thread.ask("pruneBoundary", keep);
    const which = { olderThan, upTo, runs };
    const count = await pruneInSteps(options, () => thread.ask("doomSome", which, isByName ? eraser : sweeper));
    const others = () => [...erasing].filter((each) => each !== eraser);
    const swept = await sweepAs(thread, eraser, others, options);
    if (swept || isByName) await forgetLog(thread, log);
    // Removing runs by name does not wait for retention's work.
    if (!isByName) await sweepAs(thread, sweeper, others, options);
    return count;
  } finally {
    erasing.delete(eraser);
  }
}

/**
 * Returns whether there was anything. Another process may take an erasure over midway, so it goes on until nothing is left for either. Retention
 * does not wait for others: it starts over with each takeover, and two processes would take the runs from each other without end.
 */
async function sweepAs(
  thread: Asked,
  sweeper: number,
  others: () => number[],
  options: PruneOptions,
): Promise<boolean> {
  let some = false;
  do {
    let sweep = await thread.ask("beginSweep", sweeper, others());
    if (sweep === undefined) break;
    some = true;
    await pruneInSteps(options, async () => {
      sweep = sweep && (await thread.ask("sweepSome", sweep));
      return sweep === undefined ? 0 : 1;
    });
  } while (sweeper < 0 && !options.signal?.aborted);
  return some;
}

/** Removes erased content from the file's log too; until then a copy of the file would still contain it. */
async function forgetLog(thread: Asked, log: Log): Promise<void> {
  for (let tries = 0; tries < 20; tries++) {
    if (await thread.ask("forgetLog")) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  log.warn("removed runs are in the log of the journal's file until readers let go of it");
}
