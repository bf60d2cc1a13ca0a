import { pruneInSteps } from "venturi/internal";
import type { Log, PruneOptions } from "venturi/plugin";
import type { Asked } from "./store-thread.ts";

interface Pruner {
  readonly sweeper: number;
  /** Sweepers that remove runs by name. Others leave their rows alone: the caller waits until the records are gone. */
  readonly erasing: Set<number>;
  readonly log: Log;
}

export async function prune(thread: Asked, options: PruneOptions, pruner: Pruner): Promise<number> {
  const { sweeper, erasing } = pruner;
  if (options.runs !== undefined && options.runs.length > 0) erasing.add(sweeper);
  try {
    return await pruneAs(thread, options, pruner);
  } finally {
    erasing.delete(sweeper);
  }
}

async function pruneAs(thread: Asked, options: PruneOptions, { sweeper, erasing, log }: Pruner): Promise<number> {
  const { olderThan, keep, runs = [], signal } = options;
  if (signal?.aborted) return 0;
  const upTo = keep === undefined ? undefined : await thread.ask("pruneBoundary", keep);
  const which = { olderThan, upTo, runs };
  const count = await pruneInSteps(options, () => thread.ask("doomSome", which, sweeper));
  // Removing runs by name does not wait for retention's work.
  let sweep = await thread.ask("beginSweep", sweeper, runs.length > 0 ? undefined : [...erasing]);
  await pruneInSteps(options, async () => {
    sweep = sweep && (await thread.ask("sweepSome", sweep));
    return sweep === undefined ? 0 : 1;
  });
  if (runs.length > 0) await forgetLog(thread, log);
  return count;
}

/** Removes erased content from the file's log too; until then a copy of the file would still contain it. */
async function forgetLog(thread: Asked, log: Log): Promise<void> {
  for (let tries = 0; tries < 20; tries++) {
    if (await thread.ask("forgetLog")) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  log.warn("removed runs are in the log of the journal's file until readers let go of it");
}
