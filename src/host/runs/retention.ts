import { messageOf } from "../../core/errors/errors.ts";
import type { Journal } from "../../core/journal/journal.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import { pruneRuns } from "../../journal/notes.ts";
import type { JournalEntry } from "../config/entries.ts";

const interval = 10 * 60_000;
/** Rest this many times as long as pruning took, so that it uses at most a quarter of the journal's time. */
export const pruneRest = 3;

export interface RetentionDeps {
  readonly journal: Journal;
  readonly retention: JournalEntry["retention"];
  readonly clock: Clock;
  readonly log: Log;
}

/** Periodically removes ended runs past their retention; the returned function stops it. */
export function startRetention({ journal, retention, clock, log }: RetentionDeps): () => Promise<void> {
  if (retention?.age === undefined && retention?.count === undefined) return async () => {};
  const stopping = new AbortController();
  const limits = {
    rest: pruneRest,
    signal: stopping.signal,
    ...(retention.age === undefined ? {} : { olderThan: retention.age }),
    ...(retention.count === undefined ? {} : { keep: retention.count }),
  };
  let cancel = () => {};
  let pruning: Promise<void> = Promise.resolve();
  const { age, count } = retention;
  const kept = { ...(age === undefined ? {} : { age }), ...(count === undefined ? {} : { count }) };
  log.info("retention is on: ended runs beyond it are removed now and every ten minutes", kept);
  const prune = async () => {
    const started = clock.monotonic();
    try {
      const runs = await pruneRuns(journal, limits, clock);
      if (runs > 0)
        log.info("retention removed ended runs", { runs, ...kept, ms: Math.round(clock.monotonic() - started) });
    } catch (thrown) {
      log.warn("retention could not remove ended runs; it tries again in ten minutes", { error: messageOf(thrown) });
    }
    if (!stopping.signal.aborted) cancel = clock.after(interval, next);
  };
  const next = () => {
    pruning = prune();
  };
  // Not during startup.
  cancel = clock.after(1_000, next);
  return async () => {
    stopping.abort();
    cancel();
    await pruning;
  };
}
