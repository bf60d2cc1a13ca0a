import { type ListQuery, metadataText } from "./list-query.ts";
import type { RunRow } from "./run-row.ts";
import { shadowTenant } from "./shadow.ts";

/** Whether a row matches the query, as far as the row can tell; the journal handles `text`, order and paging. */
export const rowFits = (row: RunRow, query: ListQuery): boolean =>
  (query.tenant === undefined ? row.tenant !== shadowTenant : row.tenant === query.tenant) &&
  (query.agents === undefined || query.agents.includes(row.agent)) &&
  (query.agent === undefined || row.agent === query.agent) &&
  (query.session === undefined || row.session === query.session) &&
  (query.state === undefined || row.state === query.state) &&
  (query.outcome === undefined || row.outcome === query.outcome) &&
  (query.waiting === undefined || isWaiting(row) === query.waiting) &&
  (query.since === undefined || row.createdAt >= query.since) &&
  (query.until === undefined || row.createdAt < query.until) &&
  (query.by === undefined || row.request.caller?.id === query.by) &&
  (query.tool === undefined || row.digest?.tools.includes(query.tool) === true) &&
  (query.model === undefined || row.digest?.models.includes(query.model) === true) &&
  (query.code === undefined || row.digest?.code === query.code) &&
  (query.minMs === undefined || (row.digest !== undefined && row.digest.ms >= query.minMs)) &&
  Object.entries(query.metadata ?? {}).every(
    ([key, value]) =>
      row.request.metadata !== undefined &&
      Object.hasOwn(row.request.metadata, key) &&
      metadataText(row.request.metadata[key]) === value,
  );

const isWaiting = ({ state, asking }: RunRow): boolean => state === "waiting" || (asking > 0 && state !== "done");
