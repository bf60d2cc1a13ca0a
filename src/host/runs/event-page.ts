import { isStep, type RunEvent } from "../../core/events.ts";
import type { Journal } from "../../core/journal.ts";
import type { RunRow } from "../../core/run-row.ts";
import type { EventPage, EventQuery } from "../../core/runs.ts";

const usual = 500;
const scan = 1_000;

/** Events read for one page of steps; a long run's page is then short and has a `next`. */
const mostScanned = 20_000;

/** One page of a run's committed events, as of the given row. */
export async function eventPage(journal: Journal, { run, head }: RunRow, query: EventQuery): Promise<EventPage> {
  const { after = 0, limit = usual, steps = false } = query;
  const events: RunEvent[] = [];
  let position = after;
  while (events.length < limit && position < head && position - after < mostScanned) {
    const read = await journal.read(run, position, steps ? scan : limit);
    if (read.length === 0) break;
    for (const event of read) {
      if (events.length === limit) break;
      position = event.seq;
      if (!steps || isStep(event)) events.push(event);
    }
    if (!steps) break; // the engine has cut it by size
  }
  return { events, ...(position < head ? { next: position } : {}) };
}
