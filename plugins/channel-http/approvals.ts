import { type ChannelHost, named, pageBytes, type RunRow, type Runs, type ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { z } from "zod";
import { examples } from "./examples.ts";
import { Failure, PendingView } from "./view.ts";

/** `GET /v1/approvals`: all open questions, oldest run first. */
export function mountApprovals(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  server.get("/v1/approvals", { schema }, async (request) => {
    const { agent, cursor, limit } = request.query;
    const runs = host.runsFor(request);
    const query = {
      waiting: true,
      oldestFirst: true,
      ...(agent === undefined ? {} : { agent }),
      ...(cursor === undefined ? {} : { cursor }),
    };
    const page = await runs.list({ ...query, limit });
    const approvals: Entry[] = [];
    let read = 0;
    let bytes = 0;
    // One after the other, and no more than a page: each may have read a long history for large arguments.
    for (const row of page.runs) {
      const questions = await questionsOf(runs, row);
      bytes += JSON.stringify(questions).length;
      if (read > 0 && bytes > pageBytes) break;
      approvals.push(...questions);
      read += 1;
    }
    const { cursor: next } = read === page.runs.length ? page : await runs.list({ ...query, limit: read });
    return { approvals: once(approvals), cursor: next };
  });
}

type Entry = z.output<typeof ApprovalView>;

async function questionsOf(runs: Runs, { run, agent, session, request }: RunRow): Promise<Entry[]> {
  const pending = await runs.pending(run);
  const parent = request.parent === undefined ? {} : { parent: { run: request.parent.run, call: request.parent.call } };
  return pending.map((question) => ({
    run,
    agent,
    ...(session === undefined ? {} : { session }),
    ...parent,
    ...question,
    arguments: { ...question.arguments },
  }));
}

/** A called run's question also appears on its caller; list it where it was asked, if that run is listed. */
function once(entries: readonly Entry[]): Entry[] {
  const shown = new Set(entries.filter(({ origin }) => origin === undefined).map(({ run, call }) => `${run} ${call}`));
  return entries.filter(({ origin }) => origin === undefined || !shown.has(`${origin.run} ${origin.call}`));
}

const ApprovalView = PendingView.extend({
  run: z.string(),
  agent: z.string(),
  session: z.string().optional(),
  parent: z.object({ run: z.string(), call: z.string() }).optional().describe("the run that called this one"),
});

named("Approval", ApprovalView);

const schema = {
  summary: "Pending approvals",
  tags: ["approvals"],
  querystring: z.object({
    agent: z.string().optional(),
    cursor: z.string().optional(),
    limit: z.coerce.number().int().min(1).max(200).default(50),
  }),
  response: {
    200: z
      .object({ approvals: z.array(ApprovalView), cursor: z.string().optional() })
      .meta({ examples: [examples.approvals] }),
    "4XX": Failure,
    "5XX": Failure,
  },
};
