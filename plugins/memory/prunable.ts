import type { PruneOptions } from "venturi/plugin";
import type { StoredRun } from "./run.ts";

/** Ended runs that a prune removes: the oldest past `keep`, those past their age, and those named. */
export function prunable(runs: Iterable<StoredRun>, options: PruneOptions, now: number): StoredRun[] {
  const ended = [...runs].filter((run) => run.state === "done");
  const before = options.olderThan === undefined ? undefined : now - options.olderThan;
  const surplus = options.keep === undefined ? 0 : ended.length - options.keep;
  const named = new Set(options.runs);
  const isGone = (run: StoredRun, place: number): boolean =>
    place < surplus || named.has(run.run) || (before !== undefined && run.updatedAt < before);
  return ended.filter(isGone);
}
