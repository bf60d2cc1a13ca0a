import { VenturiError } from "../core/errors.ts";
import type { RunEvent } from "../core/events.ts";
import type { Journal, Ownership } from "../core/journal.ts";

const page = 1_000;

/** All events of a run up to the head given by the claim or row, page by page. */
export async function readHistory(journal: Journal, ownership: Pick<Ownership, "run" | "head">): Promise<RunEvent[]> {
  const history: RunEvent[] = [];
  while (history.length < ownership.head) {
    const events = await journal.read(ownership.run, history.length, Math.min(page, ownership.head - history.length));
    if (events.length === 0) {
      throw new VenturiError(
        "journal.history",
        "internal",
        `${ownership.run} should have ${ownership.head} events but ends at ${history.length}`,
      );
    }
    for (const event of events) history.push(event);
  }
  return history;
}
