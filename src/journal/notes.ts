import { messageOf, VenturiError } from "../core/errors/errors.ts";
import type { Journal, PruneOptions } from "../core/journal/journal.ts";
import { type KeyValue, type KeyValues, mostListed } from "../core/journal/key-values.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { Feedback } from "../core/run/feedback.ts";
import type { RunRow } from "../core/run/run-row.ts";

/** What others say of a run: beside it, never among its events. Erased with it. */
export interface Notes {
  readonly run: string;
  readonly feedback: readonly Feedback[];
  /** By scorer, from 0 to 1. */
  readonly scores?: Readonly<Record<string, number>>;
  /** How another model did on it; see `ShadowNote`. */
  readonly shadow?: unknown;
}

const space = "notes";
const op = "run.notes";
/** A value has at most 256 KiB. */
const mostBytes = 200 * 1024;
const latest = 10 ** 14;

type Told = Pick<RunRow, "run" | "createdAt">;

/** Sorts the newest run first: engines list keys in one direction. */
export const notesKey = ({ run, createdAt }: Told): string => `${keyBefore(createdAt)}/${run}`;

/** After the keys of runs created later, before those created then or earlier. */
export const keyBefore = (createdAt: number): string => String(latest - Math.floor(createdAt)).padStart(15, "0");

export async function notesOf(journal: Journal, row: Told): Promise<Notes> {
  const known = await journal.keyValues?.get(space, notesKey(row));
  return known === undefined ? { run: row.run, feedback: [] } : read(known);
}

/** Replaces a run's notes. Rejects with `too_large` past 200 KiB, `invalid_input` where the journal cannot keep any. */
export async function changeNotes(journal: Journal, row: Told, change: (before: Notes) => Notes): Promise<Notes> {
  const values = valuesOf(journal);
  const key = notesKey(row);
  for (;;) {
    const known = await values.get(space, key);
    const next = change(known === undefined ? { run: row.run, feedback: [] } : read(known));
    const value = JSON.stringify(next);
    if (Buffer.byteLength(value) > mostBytes)
      throw new VenturiError(op, "too_large", `all feedback of one run has at most ${mostBytes / 1024} KiB`);
    if ((await values.put(space, { key, value, version: known?.version ?? 0 })) === undefined) continue;
    // Removed in the meantime: what was just written must not outlive it.
    if ((await journal.get(row.run)) !== undefined) return next;
    await forget(values, [key]);
    throw new VenturiError(op, "not_found", `the run "${row.run}" was removed`);
  }
}

/** Notes of the newest runs first, page by page; `after` is the key of the last one seen. */
export async function* eachNotes(journal: Journal, after = ""): AsyncGenerator<{ key: string; notes: Notes }> {
  const { keyValues } = journal;
  let seen = after;
  for (;;) {
    const page = (await keyValues?.list(space, { after: seen, limit: mostListed })) ?? [];
    for (const entry of page) yield { key: entry.key, notes: read(entry) };
    const last = page.at(-1);
    if (last === undefined || page.length < mostListed) return;
    seen = last.key;
  }
}

/** Removes runs, and their notes with them. The only caller of the journal's own `prune`. */
export async function pruneRuns(journal: Journal, options: PruneOptions, clock: Clock): Promise<number> {
  const { runs, olderThan, keep } = options;
  const named = await Promise.all((runs ?? []).map((run) => journal.get(run)));
  const removed = await journal.prune(options);
  const { keyValues } = journal;
  if (keyValues === undefined) return removed;
  const keys = named.flatMap((row) => (row === undefined ? [] : [notesKey(row)]));
  const isSweep = runs === undefined && olderThan === undefined && keep === undefined;
  try {
    await forget(keyValues, keys, journal);
    // A sweep also finds what a crash between the two left behind.
    if (isSweep || (removed > keys.length && keep !== undefined)) await forgetRemoved(journal);
    else if (removed > keys.length)
      await forgetRemoved(journal, olderThan === undefined ? "" : keyBefore(clock.now() - olderThan + clockSkew));
  } catch (cause) {
    const why = `the runs are removed, but their feedback is not yet: ${messageOf(cause)}`;
    throw new VenturiError("journal.prune", "journal_failed", why, { cause });
  }
  return removed;
}

/** A run that ended before some time was created before it too. */
async function forgetRemoved(journal: Journal, after = ""): Promise<void> {
  const keys: string[] = [];
  for await (const { key } of eachNotes(journal, after)) keys.push(key);
  await forget(valuesOf(journal), keys, journal);
}

/** Between this machine and the engine, ms. */
const clockSkew = 3_600_000;

/** With a journal: only notes of runs that it has no more. */
async function forget(values: KeyValues, keys: readonly string[], journal?: Journal): Promise<void> {
  for (const key of keys) {
    if (journal !== undefined && (await journal.get(key.slice(key.indexOf("/") + 1))) !== undefined) continue;
    for (;;) {
      const known = await values.get(space, key);
      if (known === undefined || (await values.remove(space, key, known.version))) break;
    }
  }
}

// Written by `changeNotes` alone.
const read = ({ value }: KeyValue): Notes => JSON.parse(value) as Notes;

function valuesOf({ keyValues }: Journal): KeyValues {
  if (keyValues !== undefined) return keyValues;
  throw new VenturiError(op, "invalid_input", "this journal keeps nothing beside its runs");
}
