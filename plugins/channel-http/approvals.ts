import { named, pageBytes } from "venturi/internal";
import type { Caller, ChannelHost, RunRow, Runs, ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { z } from "zod";
import { examples } from "./examples.ts";
import { Failure, PendingView } from "./view.ts";

/** `GET /v1/questions`: all open questions, oldest run first. `GET /v1/approvals`: those about approval. */
export function mountApprovals(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  server.get("/v1/approvals", { schema: schemas.approvals }, async (request) => {
    const { entries, cursor } = await open(host.runsFor(request), request.query, host.caller(request));
    return { approvals: entries.filter(({ kind }) => kind === "approve"), cursor };
  });
  server.get("/v1/questions", { schema: schemas.questions }, async (request) => {
    const { entries, cursor } = await open(host.runsFor(request), request.query, host.caller(request));
    return { questions: entries, cursor };
  });
}

async function open(runs: Runs, { agent, cursor, limit }: z.output<typeof Query>, { tenant, tenants, act }: Caller) {
  const query = {
    // Without those it may see but not answer.
    ...(tenants === "all" && act !== "all" ? { tenant } : {}),
    waiting: true,
    oldestFirst: true,
    ...(agent === undefined ? {} : { agent }),
    ...(cursor === undefined ? {} : { cursor }),
  };
  const page = await runs.list({ ...query, limit, mayLag: true });
  const found: Entry[] = [];
  let read = 0;
  let bytes = 0;
  // One after the other, and at most a page: each may read a long history for large arguments.
  for (const row of page.runs) {
    // An answer to a run that no worker can continue would change nothing.
    const questions = row.stranded ? [] : await questionsOf(runs, row);
    bytes += JSON.stringify(questions).length;
    if (read > 0 && bytes > pageBytes) break;
    found.push(...questions);
    read += 1;
  }
  const { cursor: next } = read === page.runs.length ? page : await runs.list({ ...query, limit: read, mayLag: true });
  return { entries: once(found), cursor: next };
}

type Entry = z.output<typeof ApprovalView>;

async function questionsOf(runs: Runs, { run, tenant, agent, session, request }: RunRow): Promise<Entry[]> {
  const pending = await runs.pending(run);
  const parent = request.parent === undefined ? {} : { parent: { run: request.parent.run, call: request.parent.call } };
  return pending.map(({ choices, schema, show, ...question }) => ({
    run,
    tenant,
    agent,
    ...(session === undefined ? {} : { session }),
    ...parent,
    ...question,
    arguments: { ...question.arguments },
    ...(show === undefined ? {} : { show: [...show] }),
    ...(choices === undefined ? {} : { choices: [...choices] }),
    ...(schema === undefined ? {} : { schema: { ...schema } }),
  }));
}

/** A called run's question also appears on its caller; list it where it was asked, if that run is listed. */
function once(entries: readonly Entry[]): Entry[] {
  const shown = new Set(entries.filter(({ origin }) => origin === undefined).map(({ run, call }) => `${run} ${call}`));
  return entries.filter(({ origin }) => origin === undefined || !shown.has(`${origin.run} ${origin.call}`));
}

const ApprovalView = PendingView.extend({
  run: z.string(),
  tenant: z.string().optional(),
  agent: z.string(),
  session: z.string().optional(),
  parent: z.object({ run: z.string(), call: z.string() }).optional().describe("the run that called this one"),
});

named("Approval", ApprovalView);

const Query = z.object({
  agent: z.string().optional(),
  cursor: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});
const failures = { "4XX": Failure, "5XX": Failure };
const cursor = z.string().optional();
const schemas = {
  approvals: {
    summary: "Pending approvals",
    tags: ["approvals"],
    querystring: Query,
    response: {
      200: z.object({ approvals: z.array(ApprovalView), cursor }).meta({ examples: [examples.approvals] }),
      ...failures,
    },
  },
  questions: {
    summary: "Pending questions: approvals, and what tools ask",
    tags: ["approvals"],
    querystring: Query,
    response: {
      200: z.object({ questions: z.array(ApprovalView), cursor }).meta({ examples: [examples.questions] }),
      ...failures,
    },
  },
};
