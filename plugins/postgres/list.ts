import { mostWords, shadowTenant, sortCursor, wordsOf } from "venturi/internal";
import type { ListQuery } from "venturi/plugin";

export const sortColumns = { longest: "ms", costliest: "cost" } as const;

/** WHERE clause of a list; its values come after the limit. Only requested filters are compared, so that indexes are used. */
export function listConditions(schema: string, query: ListQuery): { conditions: string; values: unknown[] } {
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
  if (query.sort === undefined) add(query.oldestFirst ? "runs.id > ?" : "runs.id < ?", cursor);
  else {
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
