import type { ListQuery, RunRow, Runs } from "venturi/plugin";

interface SessionPage {
  /** The newest run of each session, newest first. */
  readonly rows: readonly RunRow[];
  readonly cursor?: string;
}

const scan = 100;
/** Maximum rows examined per page; the next page continues there. */
const mostScanned = 2_000;

/**
 * Sessions by their newest run, read from the run list, so that every journal supports it: a session is listed at its newest run that
 * matches the query, and skipped at older ones.
 */
export async function sessionPage(runs: Runs, query: ListQuery & { limit: number }): Promise<SessionPage> {
  const { limit, cursor: from, ...filter } = query;
  const rows: RunRow[] = [];
  const seen = new Set<string>();
  let cursor = from;
  for (let scanned = 0; scanned < mostScanned; scanned += scan) {
    // Smaller steps near the end of the page: its cursor must be the last row examined.
    const size = Math.min(scan, limit - rows.length);
    const page = await runs.list({ ...filter, limit: size, mayLag: true, ...(cursor === undefined ? {} : { cursor }) });
    for (const row of page.runs) {
      const { session, tenant } = row;
      // Two tenants may use the same name.
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
