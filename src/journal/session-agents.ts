import { VenturiError } from "../core/errors/errors.ts";
import type { ListQuery } from "../core/run/list-query.ts";
import type { RunRow } from "../core/run/run-row.ts";

interface Session {
  readonly tenant: string;
  readonly session: string;
}

interface Lists {
  list(query: ListQuery): Promise<{ readonly runs: readonly RunRow[]; readonly cursor?: string }>;
}

/** Whether all runs of the session, ended or not, are of these agents: a key limited to agents must not read the others' turns in it. */
export async function isOfAgents(runs: Lists, of: Session, agents: readonly string[]): Promise<boolean> {
  let cursor: string | undefined;
  do {
    const page = await runs.list({ ...of, limit: 200, ...(cursor === undefined ? {} : { cursor }) });
    if (!page.runs.every((row) => isOf(row, agents))) return false;
    cursor = page.cursor;
  } while (cursor !== undefined);
  return true;
}

/** Also one that the operator's configuration started for such a key, as the tool `later` does with its `agent`: keys cannot. */
export const isOf = ({ agent, request: { caller } }: RunRow, agents: readonly string[]): boolean =>
  agents.includes(agent) || (caller?.agents?.every((each) => agents.includes(each)) ?? false);

export const noSession = (session: string): VenturiError =>
  new VenturiError("session.get", "not_found", `there is no session "${session}"`);
