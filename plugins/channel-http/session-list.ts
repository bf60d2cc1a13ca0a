import type { ListQuery, RunRow, Runs } from "venturi/plugin";

interface SessionPage {
  /** The newest run of each session, newest first. */
  readonly rows: readonly RunRow[];
  readonly cursor?: string;
}

const scan = 100;
/** Rows looked at for one page; the next page goes on from there. */
const mostScanned = 2_000;

/**
 * Sessions by their newest run. Read from the list of runs, so that every journal has them: a session stands where its newest
 * run that fits the query is, and is left out where an older one comes up.
 */
export async function sessionPage(runs: Runs, query: ListQuery & { limit: number }): Promise<SessionPage> {
  const { limit, cursor: from, ...filter } = query;
  const rows: RunRow[] = [];
  const seen = new Set<string>();
  let cursor = from;
  for (let scanned = 0; scanned < mostScanned; scanned += scan) {
    // One at a time near the end of the page: its cursor has to be the last row that was looked at.
    const size = Math.min(scan, limit - rows.length);
    const page = await runs.list({ ...filter, limit: size, ...(cursor === undefined ? {} : { cursor }) });
    for (const row of page.runs) {
      const { session, tenant } = row;
      // Two tenants may use one name.
      const name = `${tenant}\n${session}`;
      if (session === undefined || seen.has(name)) continue;
      seen.add(name);
      const [newest] = (await runs.list({ ...filter, tenant, session, limit: 1 })).runs;
      if (newest?.run === row.run) rows.push(row);
    }
    cursor = page.cursor;
    if (cursor === undefined) return { rows };
    if (rows.length >= limit) return { rows, cursor };
  }
  return cursor === undefined ? { rows } : { rows, cursor };
}
