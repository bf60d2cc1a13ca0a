import { VenturiError } from "../../core/errors/errors.ts";
import type { Journal } from "../../core/journal/journal.ts";
import type { UsageQuery, UsageRow } from "../../core/journal/money.ts";
import { noDigests, type RunsQuery } from "../../core/run/list-query.ts";
import { type Counted, coveredBySums, type Grouping, TotalsFold } from "../../core/run/totals.ts";
import { listRuns } from "../../journal/run-feedback.ts";

/** Maximum ended runs read if there are no stored sums: the newest that match. */
const mostRead = 5_000;
/** Up to this many runs are always read: next to a list of them, a median that is 5 % off would look wrong. */
const few = 200;
/** Maximum pages read for a search with few hits, or of runs without digests. */
const mostPages = 100;

/**
 * Uses the journal's sums; for filters by words, tool, duration, session, metadata or feedback, the digests of the newest matching runs.
 */
export async function totalsOf(journal: Journal, asked: RunsQuery, by: Grouping | undefined): Promise<Counted> {
  const { cursor: _c, limit: _l, sort: _s, ...query } = asked;
  if (journal.keepDigest === undefined) throw noDigests("this journal keeps no digests to add up");
  if (journal.totals !== undefined && coveredBySums(query)) {
    const totals = await journal.totals(query, by);
    if (totals.all.runs === 0 || totals.all.runs > few) return { ...totals, counted: "all" };
  }
  const fold = new TotalsFold(by);
  let cursor: string | undefined;
  let pages = 0;
  do {
    const next = {
      ...query,
      state: "done" as const,
      limit: 200,
      mayLag: true,
      ...(cursor === undefined ? {} : { cursor }),
    };
    const page = await listRuns(journal, next);
    for (const row of page.runs) fold.add(row);
    cursor = page.cursor;
    pages += 1;
  } while (cursor !== undefined && fold.runs < mostRead && pages < mostPages);
  return { ...fold.totals(), counted: cursor === undefined ? "all" : "newest" };
}

export async function usageOf(journal: Journal, query: UsageQuery): Promise<UsageRow[]> {
  if (journal.usage === undefined)
    throw new VenturiError("usage.report", "invalid_input", "this journal keeps no sums of usage");
  return await journal.usage(query);
}
