import type { ListQuery } from "venturi/plugin";

/** WHERE clause of a list; its values come after the limit. Only requested filters are compared, so that indexes are used. */
export function listConditions(query: ListQuery): { conditions: string; values: unknown[] } {
  const { tenant, agent, agents, session, state, outcome, cursor } = query;
  const values: unknown[] = [];
  const conditions: string[] = [];
  const add = (condition: string, value: unknown) => {
    if (value === undefined) return;
    values.push(value);
    conditions.push(condition.replace("?", `$${values.length + 1}`));
  };
  add("tenant = ?", tenant);
  add("agent = ?", agent);
  add("agent = ANY (?::text[])", agents);
  add("session = ?", session);
  add("state = ?", state);
  add("outcome = ?", outcome);
  if (query.waiting !== undefined) {
    conditions.push(`${query.waiting ? "" : "NOT "}(state <> 'done' AND (state = 'waiting' OR asking > 0))`);
  }
  add(query.oldestFirst ? "runs.id > ?" : "runs.id < ?", cursor);
  return { conditions: conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`, values };
}
