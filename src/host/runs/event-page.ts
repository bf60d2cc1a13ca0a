import type { Journal } from "../../core/journal/journal.ts";
import type { EventPage, EventQuery } from "../../core/ports/runs.ts";
import { isStep, type RunEvent } from "../../core/run/events.ts";
import { pageBytes } from "../../core/run/page.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import { valueSize } from "../../core/values/value-size.ts";

const usual = 500;
const scan = 1_000;

/** Maximum events read for one page of steps; a page of a long run is then short and has a `next`. */
const mostScanned = 20_000;

/** One page of a run's committed events, as of the given row: about `pageBytes` of them, at least one. */
export async function eventPage(
  journal: Journal,
  { run, head }: Pick<RunRow, "run" | "head">,
  query: EventQuery,
): Promise<EventPage> {
  const { after = 0, limit = usual, steps = false } = query;
  const events: RunEvent[] = [];
  let position = after;
  let bytes = 0;
  while (events.length < limit && position < head && position - after < mostScanned && bytes < pageBytes) {
    const read = await journal.read(run, position, steps ? scan : limit - events.length);
    if (read.length === 0) break;
    for (const event of read) {
      const wanted = !steps || isStep(event);
      if (wanted) bytes += valueSize(event);
      if (events.length === limit || (wanted && events.length > 0 && bytes > pageBytes)) break;
      position = event.seq;
      if (wanted) events.push(event);
    }
  }
  return { events, ...(position < head ? { next: position } : {}) };
}
