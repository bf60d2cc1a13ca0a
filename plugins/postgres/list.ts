import { arrivalCursor, mostWords, noDigests, shadowTenant, sortCursor, toRow, wordsOf } from "venturi/internal";
import type { ListQuery, RunRow, StoredRow } from "venturi/plugin";
import type { Database } from "./database.ts";
import type { ReadReplica } from "./read-replica.ts";
import type { Statements } from "./sql.ts";

interface Listing {
  readonly database: Database;
  readonly replica: ReadReplica | undefined;
  readonly sql: Statements;
  readonly search: "text" | "none";
}

export async function listRuns(
  { database, replica, sql, search }: Listing,
  query: ListQuery,
): Promise<{ runs: RunRow[]; cursor?: string }> {
  const limit = query.limit ?? 50;
  if (query.text !== undefined && search === "none") throw noDigests("the journal has `search: false`");
  if (query.text !== undefined && wordsOf(query.text).length === 0) return { runs: [] };
  const { conditions, values } = listConditions(database.schema, query);
  const text =
    query.sort === undefined
      ? sql.list({ conditions, order: query.oldestFirst ? "ASC" : "DESC" })
      : sql.listSorted({ conditions, by: sortColumns[query.sort] });
  type Found = StoredRow & { id: string; found: number; value?: number };
  const asked = [limit + 1, ...values];
  const lagging = query.mayLag ? await replica?.query<Found>(text, asked) : undefined;
  const rows = lagging ?? (await database.find<Found>("journal.list", text, asked));
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const runs = page.map(toRow);
  // Found but left out: past the limit or the page size.
  return last && last.found > page.length
    ? { runs, cursor: last.value === undefined ? last.id : `${last.value}_${last.id}` }
    : { runs };
}

const sortColumns = { longest: "ms", costliest: "cost" } as const;

/** WHERE clause of a list; its values come after the limit. Only requested filters are compared, so that indexes are used. */
function listConditions(schema: string, query: ListQuery): { conditions: string; values: unknown[] } {
  const { tenant, agent, agents, session, state, outcome, cursor } = query;
  const values: unknown[] = [];
  const conditions: string[] = [];
  const add = (condition: string, value: unknown) => {
    if (value === undefined) return;
    values.push(value);
    conditions.push(condition.replace("?", `$${values.length + 1}`));
  };
  add("tenant = ?", tenant);
  if (tenant === undefined) conditions.push(`tenant <> '${shadowTenant}'`);
  add("agent = ?", agent);
  add("agent = ANY (?::text[])", agents);
  add("session = ?", session);
  add("state = ?", state);
  // A literal: a generic plan could not use the partial index of failed runs.
  if (outcome === "failed" || outcome === "cancelled") conditions.push(`outcome = '${outcome}'`);
  else add("outcome = ?", outcome);
  if (query.waiting !== undefined) {
    conditions.push(`${query.waiting ? "" : "NOT "}(state <> 'done' AND (state = 'waiting' OR asking > 0))`);
  }
  const { since, until, by, tool, model, code, minMs, text } = query;
  add("created_at >= to_timestamp(?::float8 / 1000)", since);
  add("created_at < to_timestamp(?::float8 / 1000)", until);
  add("caller = ?", by);
  const digest = (condition: string) =>
    `EXISTS (SELECT 1 FROM ${schema}.digests d WHERE d.run = runs.id AND ${condition})`;
  add(digest("jsonb_exists(d.tools, ?)"), tool);
  add(digest("jsonb_exists(d.models, ?)"), model);
  add(digest("d.code = ?"), code);
  add(digest("d.ms >= ?::float8"), minMs);
  add(digest("d.search @@ to_tsquery('simple', ?)"), text === undefined ? undefined : toQuery(text));
  for (const [key, value] of Object.entries(query.metadata ?? {})) {
    // `->>` returns booleans and numbers as JSON text; objects and lists are not comparable.
    const found = `${schema}.metadata_of(runs.request)`;
    add(`${found} ->> ? = `, key);
    values.push(value);
    conditions.push(`${conditions.pop()}$${values.length + 1}`);
    add(`jsonb_typeof(${found} -> ?) IN ('string', 'number', 'boolean')`, key);
  }
  if (query.sort === undefined) {
    if (cursor !== undefined) arrivalCursor(cursor); // Validates it.
    add(query.oldestFirst ? "runs.id > ?" : "runs.id < ?", cursor);
  } else {
    const by = sortColumns[query.sort];
    conditions.push(`s.${by} IS NOT NULL`);
    if (cursor !== undefined) {
      const { value, id } = sortCursor(cursor);
      values.push(value, id);
      conditions.push(`(s.${by}, s.run) < ($${values.length}::float8, $${values.length + 1}::bigint)`);
    }
  }
  return { conditions: conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`, values };
}

/** All words as prefixes. They are only letters and digits, so none is an operator. */
const toQuery = (text: string): string =>
  wordsOf(text)
    .slice(0, mostWords)
    .map((word) => `${word}:*`)
    .join(" & ");
