import { type ChannelHost, type RunRow, type Runs, VenturiError, type ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { z } from "zod";
import { examples } from "./examples.ts";
import { eraseMemory, type Kept } from "./memory.ts";
import { eraseNotes } from "./notes.ts";
import { Failure } from "./view.ts";

/** Erasure of everything stored for a run or conversation. Runs go last: if something fails, the same request finds the rest. */
export function mountErase(host: ChannelHost<FastifyInstance>, kept: Kept): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  server.delete("/v1/runs/:run", { schema: schemas.run }, async (request) => {
    const runs = host.runsFor(request);
    const row = await runs.get(request.params.run);
    mayRemove(host, request, row);
    mustHaveEnded([row]);
    await eraseNotes(kept.memories(), { tenant: row.tenant, run: row.run });
    await runs.remove(row.run);
    return { removed: [row.run] };
  });
  server.delete("/v1/sessions/:session", { schema: schemas.session }, async (request) => {
    const { session } = request.params;
    const runs = host.runsFor(request);
    const rows = await runsOf(runs, session);
    if (rows.length === 0) throw new VenturiError("session.remove", "not_found", `there is no session "${session}"`);
    for (const row of rows) mayRemove(host, request, row);
    mustHaveEnded(rows);
    const tenants = new Set(rows.map(({ tenant }) => tenant));
    const agents = host.caller(request).agents && runs.agents();
    for (const tenant of tenants) await eraseMemory(kept, { tenant, scope: "session", owner: session }, agents);
    for (const row of rows) {
      await eraseNotes(kept.memories(), { tenant: row.tenant, run: row.run });
      await runs.remove(row.run);
    }
    return { removed: rows.map(({ run }) => run) };
  });
}

/** As `remove` checks it, but before anything is erased. */
function mayRemove(host: ChannelHost<FastifyInstance>, request: unknown, { run, tenant }: RunRow): void {
  host.demand(request, "steer");
  const caller = host.caller(request);
  if (tenant === caller.tenant || caller.act === "all") return;
  throw new VenturiError("run.get", "not_found", `there is no run "${run}"`);
}

/** Only ended runs are erased: an active one must be cancelled first, so that it is not erased by mistake. */
function mustHaveEnded(rows: readonly RunRow[]): void {
  const open = rows.filter(({ state }) => state !== "done").map(({ run }) => run);
  if (open.length === 0) return;
  throw new VenturiError("run.remove", "conflict", `${open[0]} is still under way; cancel it first`, {
    details: { runs: open.slice(0, 100) },
  });
}

async function runsOf(runs: Runs, session: string): Promise<RunRow[]> {
  const rows: RunRow[] = [];
  let cursor: string | undefined;
  do {
    const page = await runs.list({ session, limit: 200, ...(cursor === undefined ? {} : { cursor }) });
    rows.push(...page.runs);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return rows;
}

const Removed = z.object({ removed: z.array(z.string()) }).meta({ examples: [examples.removed] });
const failures = { "4XX": Failure, "5XX": Failure };
const description =
  "Removes events, request, signals, kept wires, digest, search text and spans. Images and files that no other run uses go with the " +
  "next sweep, an hour later at the earliest; they cannot be read from now on. Notes that it put into a memory go too. 409 while a run is " +
  "under way.";
const withMemory = " What was remembered of the session goes too.";
const schemas = {
  run: {
    summary: "Erase an ended run",
    description,
    tags: ["runs"],
    params: z.object({ run: z.string() }),
    response: { 200: Removed, ...failures },
  },
  session: {
    summary: "Erase a conversation: all its runs",
    description: description + withMemory,
    tags: ["sessions"],
    params: z.object({ session: z.string() }),
    response: { 200: Removed, ...failures },
  },
};
