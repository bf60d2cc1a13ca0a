import { keyMemory } from "venturi/internal";
import type { Names } from "./names.ts";
import type { Store } from "./store.ts";
import { bytesOf, empty, type Stored, textOf } from "./stored.ts";

interface Parts {
  readonly store: Store;
  readonly names: Names;
}

/** A key whose run was removed still names it, with this header: a repeated request must not run a second time. */
const removed = "R";
export const isTombstone = (key: Stored): boolean => key.header(removed) !== undefined;

/** Whether the run was removed, by its key. */
export async function isRemoved(
  op: string,
  { store, names }: Parts,
  { subject, run }: { subject: string; run: string },
): Promise<boolean> {
  const key = await store.last(op, names.index, subject);
  return key !== undefined && isTombstone(key) && textOf(key.data) === run;
}

/** Before the run itself is removed. A note beside the key tells `forgetKeys` where it is: there may be millions of keys. */
export async function rememberKey(
  op: string,
  { store, names }: Parts,
  { run, tenant, key }: { run: string; tenant: string; key: string },
): Promise<void> {
  const subject = names.key(tenant, key);
  const known = await store.last(op, names.index, subject);
  if (known === undefined || textOf(known.data) !== run) return;
  await store.put(op, { subject, headers: `${removed}: 1\r\n`, data: bytesOf(run) });
  await store.put(op, { subject: names.removedKey(subject), headers: "", data: empty });
}

/** Keys of runs that were removed long ago. Messages are in order of time, so it ends at the first that is kept. */
export async function forgetKeys(op: string, { store, names }: Parts, now: number): Promise<void> {
  const filter = names.removedKey("*");
  const last = await store.last(op, names.index, filter);
  const purge = (subject: string, seq: number) =>
    store.api(op, `STREAM.PURGE.${names.index}`, { filter: subject, seq });
  const range = { filter, seq: 1, upTo: last?.seq ?? 0 };
  for await (const note of store.scan(op, names.index, range)) {
    if (now - note.time <= keyMemory) return;
    // Older than the note: who has used the key since keeps it.
    await purge(names.keyOf(note.subject), note.seq);
    await purge(note.subject, note.seq + 1);
  }
}
