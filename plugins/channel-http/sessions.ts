import { named, pageBytes } from "venturi/internal";
import { type ChannelHost, VenturiError, type ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { RunInput } from "venturi/plugin/channel";
import { z } from "zod";
import { examples } from "./examples.ts";
import { sessionPage } from "./session-list.ts";
import { endingOf } from "./state.ts";
import { Failure, overview, RunView } from "./view.ts";

/** Lists conversations by their newest run; and one conversation's runs in order, with input and answer. */
export function mountSessions(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  server.get("/v1/sessions", { schema: listSchema }, async (request) => {
    const { q, agent, tenant, cursor, limit } = request.query;
    const { rows, cursor: next } = await sessionPage(host.runsFor(request), {
      limit,
      ...(q === undefined ? {} : { text: q }),
      ...(agent === undefined ? {} : { agent }),
      ...(tenant === undefined ? {} : { tenant }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    const sessions = rows.map((row) => ({
      session: row.session,
      tenant: row.tenant,
      updatedAt: row.updatedAt,
      last: overview(row),
    }));
    return { sessions, cursor: next };
  });
  server.get("/v1/sessions/:session", { schema }, async (request) => {
    const { session } = request.params;
    const { cursor, limit, tenant } = request.query;
    const runs = host.runsFor(request);
    const query = {
      session,
      oldestFirst: true,
      ...(cursor === undefined ? {} : { cursor }),
      ...(tenant === undefined ? {} : { tenant }),
    };
    const page = await runs.list({ ...query, limit });
    if (page.runs.length === 0 && cursor === undefined) {
      throw new VenturiError("session.get", "not_found", `there is no session "${session}"`);
    }
    const turns: Record<string, unknown>[] = [];
    let bytes = 0;
    for (const row of page.runs) {
      const turn = { ...overview(row), input: row.request.input, ...(await endingOf(runs, row)) };
      bytes += JSON.stringify(turn).length;
      if (bytes > pageBytes && turns.length > 0) break;
      turns.push(turn);
    }
    if (turns.length === page.runs.length) return { session, runs: turns, cursor: page.cursor };
    // The list has no answers, so the next page's cursor is requested once it is known how many turns fit here.
    const shorter = await runs.list({ ...query, limit: turns.length });
    return { session, runs: turns, cursor: shorter.cursor };
  });
}

const TurnView = named("TurnView", RunView.extend({ input: RunInput }));

const SessionView = named(
  "SessionView",
  z.object({
    session: z.string(),
    tenant: z.string(),
    updatedAt: z.number(),
    last: RunView.describe("its newest run that fits"),
  }),
);

const tenant = z.string().describe("of another tenant; for keys that see more than their own");

const listSchema = {
  summary: "Sessions, the one with the newest run first",
  tags: ["sessions"],
  querystring: z.object({
    q: z.string().min(1).max(500).optional().describe("words of what was asked or answered in an ended run"),
    agent: z.string().optional(),
    tenant: tenant.optional(),
    cursor: z.string().optional(),
    limit: z.coerce.number().int().min(1).max(200).default(50),
  }),
  response: {
    200: z
      .object({
        sessions: z.array(SessionView),
        cursor: z.string().optional().describe("there may be more, even if this page is short"),
      })
      .meta({ examples: [examples.sessions] }),
    "4XX": Failure,
    "5XX": Failure,
  },
};

const schema = {
  summary: "A session's runs, oldest first",
  tags: ["sessions"],
  params: z.object({ session: z.string() }),
  querystring: z.object({
    tenant: tenant.optional(),
    cursor: z.string().optional(),
    limit: z.coerce.number().int().min(1).max(200).default(50),
  }),
  response: {
    200: z
      .object({ session: z.string(), runs: z.array(TurnView), cursor: z.string().optional() })
      .meta({ examples: [examples.session] }),
    "4XX": Failure,
    "5XX": Failure,
  },
};
