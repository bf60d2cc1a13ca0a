import { messageOf } from "../../core/errors/errors.ts";
import type { Journal } from "../../core/journal/journal.ts";
import type { PriceOf } from "../../core/model/prices.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import { endOfRun } from "../../core/run/digest.ts";
import { readHistory } from "../../journal/history.ts";

const page = 100;

export interface ReindexOptions {
  readonly journal: Journal;
  readonly priceOf: PriceOf;
  /** `missing`: only runs without a digest. */
  readonly which: "all" | "missing";
  readonly signal?: AbortSignal;
  /** Called after each run written. */
  readonly rest?: () => Promise<void>;
}

export interface Reindexed {
  readonly written: number;
  readonly unreadable: number;
}

/** Rebuilds the digests of ended runs, oldest first. */
export async function reindex({ journal, priceOf, which, signal, rest }: ReindexOptions): Promise<Reindexed> {
  let written = 0;
  let unreadable = 0;
  let cursor: string | undefined;
  do {
    const query = { state: "done" as const, oldestFirst: true, limit: page };
    const listed = await journal.list(cursor === undefined ? query : { ...query, cursor });
    for (const row of listed.runs) {
      if (signal?.aborted) return { written, unreadable };
      if (which === "missing" && row.digest !== undefined) continue;
      const { run, request } = row;
      // A damaged run keeps its digest and must not block the others.
      const events = await readHistory(journal, row).catch(() => undefined);
      const end = events === undefined ? undefined : endOfRun({ run, request, priceOf }, events);
      if (end === undefined) unreadable += 1;
      else await journal.keepDigest?.(run, end);
      if (end !== undefined) written += 1;
      await rest?.();
    }
    cursor = listed.cursor;
  } while (cursor !== undefined);
  return { written, unreadable };
}

/** Increased when searching needs something older digests lack. */
const version = "1";
const space = "venturi";
const key = "digests";
/** Delay after the start of a service, and between runs, ms. */
const after = 1_000;
const between = 5;

export interface FirstIndexDeps {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Log;
  readonly priceOf: PriceOf;
}

/**
 * Indexes runs written by an earlier version, so that they too are found by tools, models and words: once, in the background, by whichever
 * process comes first. The returned function stops it; the next start continues.
 */
export function indexOnce({ journal, clock, log, priceOf }: FirstIndexDeps): () => Promise<void> {
  const { keyValues, keepDigest } = journal;
  if (keyValues === undefined || keepDigest === undefined) return async () => {};
  const stopping = new AbortController();
  const { signal } = stopping;
  let indexing: Promise<void> = Promise.resolve();
  const rest = () => new Promise<void>((resolve) => clock.after(between, resolve));
  const index = async () => {
    const known = await keyValues.get(space, key);
    if (known?.value === version) return;
    const started = clock.monotonic();
    const done = await reindex({ journal, priceOf, which: "missing", signal, rest });
    if (signal.aborted) return;
    await keyValues.put(space, { key, value: version, version: known?.version ?? 0 });
    if (done.written + done.unreadable === 0) return;
    log.info("runs of an earlier version were indexed", { ...done, ms: Math.round(clock.monotonic() - started) });
  };
  const cancel = clock.after(after, () => {
    indexing = index().catch((thrown: unknown) =>
      log.warn("runs of an earlier version could not be indexed; `venturi reindex --missing` does", {
        error: messageOf(thrown),
      }),
    );
  });
  return async () => {
    stopping.abort();
    cancel();
    await indexing;
  };
}
