import { arrivalCursor, fitPage, mostWords, rowFits, sortCursor, TotalsFold, wordsOf } from "venturi/internal";
import type { Grouping, ListQuery, RunRow, Totals } from "venturi/plugin";
import { rowOf, type StoredRun } from "./run.ts";

/** One page of the runs (given in order of arrival) and the next cursor. */
export function pageOf(stored: Iterable<StoredRun>, query: ListQuery): { runs: RunRow[]; cursor?: string } {
  if (query.sort !== undefined) return sortedPage(stored, { ...query, sort: query.sort });
  const limit = query.limit ?? 50;
  const from = query.cursor === undefined ? undefined : arrivalCursor(query.cursor);
  const ordered = [...stored];
  if (!query.oldestFirst) ordered.reverse();
  const after = (run: StoredRun) => from === undefined || (query.oldestFirst ? run.order > from : run.order < from);
  const found = ordered.filter((run) => after(run) && fits(run, query)).slice(0, limit + 1);
  const { page, cut } = fitPage(found.slice(0, limit), ({ request }) => JSON.stringify(request).length);
  const last = page.at(-1);
  const runs = page.map(rowOf);
  return last && (cut || found.length > limit) ? { runs, cursor: String(last.order) } : { runs };
}

/** Recounts all runs, which are in memory anyway. */
export function totalsOf(stored: Iterable<StoredRun>, query: ListQuery, by: Grouping | undefined): Totals {
  const fold = new TotalsFold(by);
  for (const run of stored) if (fits(run, query)) fold.add(rowOf(run));
  return fold.totals();
}

/** One page of ended runs, sorted by a digest value, largest first. */
function sortedPage(
  stored: Iterable<StoredRun>,
  query: ListQuery & Required<Pick<ListQuery, "sort">>,
): { runs: RunRow[]; cursor?: string } {
  const { limit = 50, cursor, sort } = query;
  const from = cursor === undefined ? undefined : sortCursor(cursor);
  const found = [...stored]
    .filter((run) => fits(run, query))
    .flatMap((run) => {
      const value = sort === "longest" ? run.end?.digest.ms : run.end?.digest.cost;
      return value === undefined ? [] : [{ run, value }];
    })
    .sort((left, right) => right.value - left.value || right.run.order - left.run.order)
    .filter(
      ({ run, value }) => from === undefined || value < from.value || (value === from.value && run.order < from.id),
    )
    .slice(0, limit + 1);
  const { page, cut } = fitPage(found.slice(0, limit), ({ run }) => JSON.stringify(run.request).length);
  const last = page.at(-1);
  const runs = page.map(({ run }) => rowOf(run));
  return last && (cut || found.length > limit) ? { runs, cursor: `${last.value}_${last.run.order}` } : { runs };
}

const fits = (run: StoredRun, query: ListQuery): boolean =>
  rowFits(rowOf(run), query) &&
  (query.text === undefined ||
    (run.end !== undefined && hasWords(run.end.text, wordsOf(query.text).slice(0, mostWords))));

function hasWords(text: string, wanted: readonly string[]): boolean {
  const words = wordsOf(text);
  return wanted.length > 0 && wanted.every((word) => words.some((other) => other.startsWith(word)));
}
