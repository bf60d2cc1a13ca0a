import { keyMemory } from "venturi/internal";
import type { Names } from "./names.ts";
import type { Store } from "./store.ts";
import { bytesOf, empty, type Stored, textOf } from "./stored.ts";

interface Deps {
  readonly store: Store;
  readonly names: Names;
}

/** Header that marks the key of a removed run. The key still names the run, so that a repeated request does not run again. */
const removed = "R";
export const isTombstone = (key: Stored): boolean => key.header(removed) !== undefined;

/** Whether the run was removed, by its key. */
export async function isRemoved(
  op: string,
  { store, names }: Deps,
  { subject, run }: { subject: string; run: string },
): Promise<boolean> {
  const key = await store.last(op, names.index, subject);
  return key !== undefined && isTombstone(key) && textOf(key.data) === run;
}

/** Called before the run is removed. A note next to the key tells `forgetKeys` where it is, since there may be millions of keys. */
export async function rememberKey(
  op: string,
  { store, names }: Deps,
  { run, tenant, key }: { run: string; tenant: string; key: string },
): Promise<void> {
  const subject = names.key(tenant, key);
  const known = await store.last(op, names.index, subject);
  if (known === undefined || textOf(known.data) !== run) return;
  await store.put(op, { subject, headers: `${removed}: 1\r\n`, data: bytesOf(run) });
  await store.put(op, { subject: names.removedKey(subject), headers: "", data: empty });
}

/** Removes keys of runs that were removed long ago. Messages are ordered by time, so it stops at the first one to keep. */
export async function forgetKeys(op: string, { store, names }: Deps, now: number): Promise<void> {
  const filter = names.removedKey("*");
  const last = await store.last(op, names.index, filter);
  const purge = (subject: string, seq: number) =>
    store.api(op, `STREAM.PURGE.${names.index}`, { filter: subject, seq });
  const range = { filter, seq: 1, upTo: last?.seq ?? 0 };
  for await (const note of store.scan(op, names.index, range)) {
    if (now - note.time <= keyMemory) return;
    // Only what is older than the note: a key used again since then is kept.
    await purge(names.keyOf(note.subject), note.seq);
    await purge(note.subject, note.seq + 1);
  }
}
