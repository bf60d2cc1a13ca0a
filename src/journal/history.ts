import { VenturiError } from "../core/errors.ts";
import type { RunEvent } from "../core/events.ts";
import type { Attempt, Journal } from "../core/journal.ts";

const page = 1_000;

/** Everything a run has written up to its head as the claim or the row tells it, page by page. */
export async function readHistory(journal: Journal, attempt: Pick<Attempt, "run" | "head">): Promise<RunEvent[]> {
  const history: RunEvent[] = [];
  while (history.length < attempt.head) {
    const events = await journal.read(attempt.run, history.length, Math.min(page, attempt.head - history.length));
    if (events.length === 0) {
      throw new VenturiError(
        "journal.history",
        "internal",
        `${attempt.run} should have ${attempt.head} events but ends at ${history.length}`,
      );
    }
    for (const event of events) history.push(event);
  }
  return history;
}
