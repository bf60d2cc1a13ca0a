import { VenturiError } from "../core/errors/errors.ts";
import type { Journal, Ownership } from "../core/journal/journal.ts";
import { isStep, type RunEvent } from "../core/run/events.ts";
import type { RunRow } from "../core/run/run-row.ts";

const op = "journal.history";
const page = 1_000;

/** An ended run, which no longer changes: its row, and its events without stream deltas. */
export interface EndedRun {
  readonly row: RunRow;
  readonly steps: readonly RunEvent[];
}

/** Runs held in memory, by id. */
const held = new WeakMap<Journal, Map<string, EndedRun>>();

/** Keeps an ended run in memory for everyone who needs it during `use`: a shadow would otherwise read it three times, most of its cost. */
export async function holding<T>(journal: Journal, ended: EndedRun, use: () => Promise<T>): Promise<T> {
  const runs = held.get(journal) ?? new Map<string, EndedRun>();
  held.set(journal, runs);
  const { run } = ended.row;
  runs.set(run, ended);
  try {
    return await use();
  } finally {
    if (runs.get(run) === ended) runs.delete(run);
  }
}

/** The run if it is held; it may have been removed meanwhile. */
export const heldRun = (journal: Journal, run: string): EndedRun | undefined => held.get(journal)?.get(run);

/** Events of an ended run without stream deltas. Rejects as `readHistory`. */
export async function readSteps(journal: Journal, row: Pick<Ownership, "run" | "head">): Promise<readonly RunEvent[]> {
  return heldRun(journal, row.run)?.steps ?? (await readHistory(journal, row)).filter(isStep);
}

/** All events of a run up to the head in its claim or row, page by page. Rejects with `not_found` if it was removed. */
export async function readHistory(journal: Journal, ownership: Pick<Ownership, "run" | "head">): Promise<RunEvent[]> {
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
