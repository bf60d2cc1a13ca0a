import { messageOf, VenturiError } from "../core/errors/errors.ts";
import type { Journal, PruneOptions } from "../core/journal/journal.ts";
import { type KeyValue, type KeyValues, mostListed } from "../core/journal/key-values.ts";
import { pruneInSteps } from "../core/journal/prune-steps.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { Feedback } from "../core/run/feedback.ts";
import type { RunRow } from "../core/run/run-row.ts";
import { forgetResponses } from "./kept-responses.ts";

/** Notes about a run, such as feedback: stored next to it, never among its events, and erased with it. */
export interface Notes {
  readonly run: string;
  readonly feedback: readonly Feedback[];
  /** Scores from 0 to 1, by scorer. */
  readonly scores?: Readonly<Record<string, number>>;
  /** Result of a shadow run on another model; see `ShadowNote`. */
  readonly shadow?: unknown;
}

const space = "notes";
const op = "run.notes";
/** Leaves room below the journal's limit of 256 KiB per value. */
const mostBytes = 200 * 1024;
const latest = 10 ** 14;

type Told = Pick<RunRow, "run" | "createdAt">;

/** Key that sorts the newest run first, since engines list keys in ascending order only. */
export const notesKey = ({ run, createdAt }: Told): string => `${keyBefore(createdAt)}/${run}`;

/** Sorts after the keys of runs created later, before those created at this time or earlier. */
export const keyBefore = (createdAt: number): string => String(latest - Math.floor(createdAt)).padStart(15, "0");

export async function notesOf(journal: Journal, row: Told): Promise<Notes> {
  const known = await journal.keyValues?.get(space, notesKey(row));
  return known === undefined ? { run: row.run, feedback: [] } : read(known);
}

/** Replaces a run's notes. Rejects with `too_large` past 200 KiB, and with `invalid_input` if the journal has no key-value store. */
export async function changeNotes(journal: Journal, row: Told, change: (before: Notes) => Notes): Promise<Notes> {
  const values = valuesOf(journal);
  const key = notesKey(row);
  let known: KeyValue | undefined; // Most runs have none yet, so the first attempt does not read.
  for (;;) {
    const next = change(known === undefined ? { run: row.run, feedback: [] } : read(known));
    const value = JSON.stringify(next);
    if (Buffer.byteLength(value) > mostBytes)
      throw new VenturiError(op, "too_large", `all feedback of one run has at most ${mostBytes / 1024} KiB`);
    if ((await values.put(space, { key, value, version: known?.version ?? 0 })) === undefined) {
      known = await values.get(space, key);
      continue;
    }
    // If the run was removed meanwhile, its notes must not outlive it.
    if ((await journal.get(row.run)) !== undefined) return next;
    await forget(values, [key]);
    throw new VenturiError(op, "not_found", `the run "${row.run}" was removed`);
  }
}

/** Notes page by page, newest run first; `after` is the last key seen. */
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

/** Removes runs together with their notes, and with the answers cached from them if they are named. The only caller of the journal's own `prune`. */
export async function pruneRuns(journal: Journal, options: PruneOptions, clock: Clock): Promise<number> {
  const { runs, olderThan, keep } = options;
  const { keyValues } = journal;
  const named = await Promise.all((runs ?? []).map((run) => journal.get(run)));
  // Runs go last: who is cut off in between still finds the run, and removes it again.
  for (const row of named) {
    if (row?.state !== "done" || keyValues === undefined) continue;
    await forget(keyValues, [notesKey(row)]);
    await forgetResponses(keyValues, row.run);
  }
  const removed = await journal.prune(options);
  if (keyValues === undefined) return removed;
  // Once more, for what came meanwhile.
  const keys = named.flatMap((row) => (row === undefined ? [] : [notesKey(row)]));
  const isSweep = runs === undefined && olderThan === undefined && keep === undefined;
  try {
    await forget(keyValues, keys, journal);
    for (const run of runs ?? []) await forgetResponses(keyValues, run);
    // A sweep also finds notes that a crash between the two deletions left behind.
    if (isSweep) await forgetRemoved(journal, "", options);
    else if (removed > keys.length && keep !== undefined) await forgetRemoved(journal);
    else if (removed > keys.length)
      await forgetRemoved(journal, olderThan === undefined ? "" : keyBefore(clock.now() - olderThan + clockSkew));
  } catch (cause) {
    const why = `the runs are removed, but their feedback and cached answers are not yet: ${messageOf(cause)}`;
    throw new VenturiError("journal.prune", "journal_failed", why, { cause });
  }
  return removed;
}

/** Starts at the cutoff: a run that ended before it was also created before it. */
async function forgetRemoved(journal: Journal, after = "", pace: PruneOptions = {}): Promise<void> {
  const notes = eachNotes(journal, after);
  await pruneInSteps(pace, async () => {
    const { value, done } = await notes.next();
    if (done) return 0;
    await forget(valuesOf(journal), [value.key], journal);
    return 1;
  });
}

/** Tolerated clock difference between this machine and the engine, ms. */
const clockSkew = 3_600_000;

/** With `journal` set, removes only notes whose run no longer exists. */
async function forget(values: KeyValues, keys: readonly string[], journal?: Journal): Promise<void> {
  for (const key of keys) {
    if (journal !== undefined && (await journal.get(key.slice(key.indexOf("/") + 1))) !== undefined) continue;
    for (;;) {
      const known = await values.get(space, key);
      if (known === undefined || (await values.remove(space, key, known.version))) break;
    }
  }
}

// Only `changeNotes` writes these values.
const read = ({ value }: KeyValue): Notes => JSON.parse(value) as Notes;

function valuesOf({ keyValues }: Journal): KeyValues {
  if (keyValues !== undefined) return keyValues;
  throw new VenturiError(op, "invalid_input", "this journal keeps nothing beside its runs");
}
