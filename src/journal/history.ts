import { VenturiError } from "../core/errors/errors.ts";
import type { Journal, Ownership } from "../core/journal/journal.ts";
import type { RunEvent } from "../core/run/events.ts";

const op = "journal.history";
const page = 1_000;

/** Histories held in memory, by run. */
const held = new WeakMap<Journal, Map<string, readonly RunEvent[]>>();

/**
 * Reads an ended run, which no longer changes, once for everyone who needs it during `use`: a shadow would otherwise read it three times,
 * most of its cost.
 */
export async function holdingHistory<T>(
  journal: Journal,
  row: Pick<Ownership, "run" | "head">,
  use: () => Promise<T>,
): Promise<T> {
  const histories = held.get(journal) ?? new Map<string, readonly RunEvent[]>();
  held.set(journal, histories);
  const events = await readHistory(journal, row);
  histories.set(row.run, events);
  try {
    return await use();
  } finally {
    if (histories.get(row.run) === events) histories.delete(row.run);
  }
}

/** All events of a run up to the head in its claim or row, page by page. Rejects with `not_found` if it was removed. */
export async function readHistory(journal: Journal, ownership: Pick<Ownership, "run" | "head">): Promise<RunEvent[]> {
  const known = held.get(journal)?.get(ownership.run);
  if (known !== undefined && known.length >= ownership.head) return known.slice(0, ownership.head);
  const history: RunEvent[] = [];
  while (history.length < ownership.head) {
    const events = await journal.read(ownership.run, history.length, Math.min(page, ownership.head - history.length));
    if (events.length === 0) {
      if ((await journal.get(ownership.run)) === undefined)
        throw new VenturiError(op, "not_found", `the run ${ownership.run} was removed`);
      throw new VenturiError(
        op,
        "internal",
        `${ownership.run} should have ${ownership.head} events but ends at ${history.length}`,
      );
    }
    for (const event of events) history.push(event);
  }
  return history;
}

/** As `readHistory`, but empty for a run that was removed meanwhile: the conversation continues without it. */
export async function historyOrNothing(journal: Journal, row: Pick<Ownership, "run" | "head">): Promise<RunEvent[]> {
  try {
    return await readHistory(journal, row);
  } catch (thrown) {
    if (VenturiError.isInstance(thrown) && thrown.code === "not_found") return [];
    throw thrown;
  }
}
