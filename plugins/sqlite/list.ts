import { arrivalCursor, mostWords, noDigests, sortCursor, toRow, wordsOf } from "venturi/internal";
import type { ListQuery, RunRow } from "venturi/plugin";
import type { Asked } from "./store-thread.ts";

export async function listPage(
  reads: Asked,
  query: ListQuery,
  search: "text" | "none",
): Promise<{ runs: RunRow[]; cursor?: string }> {
  const limit = query.limit ?? 50;
  if (query.text !== undefined && search === "none") throw noDigests("the journal has `search: false`");
  if (query.cursor !== undefined) (query.sort === undefined ? arrivalCursor : sortCursor)(query.cursor); // Validates it.
  const words = query.text === undefined ? [] : wordsOf(query.text).slice(0, mostWords);
  if (query.text !== undefined && words.length === 0) return { runs: [] };
  const asked = words.length === 0 ? query : { ...query, text: words.map((word) => `"${word}"*`).join(" ") };
  const { page: found, cut } = await reads.ask("list", asked, limit + 1);
  const page = found.slice(0, limit);
  const runs = page.map(toRow);
  const last = page.at(-1);
  return last && (cut || found.length > limit)
    ? { runs, cursor: last.value === undefined ? String(last.id) : `${last.value}_${last.id}` }
    : { runs };
}
