import { excessOf } from "../values/value-limits.ts";
import type { RunEvent } from "./events.ts";

/** Approximate bytes of requests, events or answers per page, whatever the item limit; a page has at least one item. */
export const pageBytes = 512 * 1024;

/** Only text is counted here, while JSON may be several times larger. */
const suspicious = { depth: Number.POSITIVE_INFINITY, nodes: Number.POSITIVE_INFINITY, size: pageBytes / 8 };

/** Whether a short page of events may have been cut by size, so that more may follow. */
export const mayBeCut = (events: readonly RunEvent[]): boolean => excessOf(events, suspicious) !== undefined;

/** The items that fit on a page, and whether any were left out. */
export function fitPage<Item>(items: Iterable<Item>, sizeOf: (item: Item) => number): { page: Item[]; cut: boolean } {
  const page: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    bytes += sizeOf(item);
    if (page.length > 0 && bytes > pageBytes) return { page, cut: true };
    page.push(item);
  }
  return { page, cut: false };
}
