import { Readable } from "node:stream";
import { didYouMean, groupings, momentIn, outcomes, type RunsQuery } from "venturi/internal";
import { type ChannelHost, type RunRow, type Runs, terminalOf, VenturiError, type ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { z } from "zod";
import { examples } from "./examples.ts";
import { TotalsView, totalsView } from "./totals.ts";
import { ending, Failure, overview, RunView } from "./view.ts";

const moment = z
  .string()
  .regex(
    /^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:\d{2})?)?$/,
    "ms since the epoch, or a date such as 2026-01-31T08:00:00Z",
  )
  .transform((text) => momentIn(text) ?? Number.NaN)
  .refine((time) => !Number.isNaN(time), "there is no such date");

const known = {
  agent: z.string().optional(),
  session: z.string().optional(),
  status: z.enum(["ready", "running", "waiting", ...outcomes]).optional(),
  q: z.string().min(1).max(500).optional().describe("words of what an ended run was asked or answered"),
  since: z.union([z.coerce.number(), moment]).optional().describe("created at or after: ms since the epoch, or a date"),
  until: z.union([z.coerce.number(), moment]).optional().describe("created before"),
  tool: z.string().optional().describe("ended runs that called this tool"),
  model: z.string().optional().describe("ended runs that used this model, as provider/model"),
  code: z.string().optional().describe("runs that failed with this code"),
  min: z.coerce.number().nonnegative().optional().describe("ended runs that took at least so many ms"),
  key: z.string().optional().describe("runs that this key started, by its id"),
  label: z.string().max(100).optional().describe("runs with feedback of this label"),
  minScore: z.coerce.number().optional().describe("runs with feedback of at least this score"),
  maxScore: z.coerce.number().optional().describe("runs with feedback of at most this score"),
  ratedBy: z.string().max(256).optional().describe("runs with feedback by this person"),
  rated: z.literal("true").optional().describe("runs with any feedback"),
  cursor: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  tenant: z.string().optional().describe("runs of this tenant; for keys that see more than their own"),
  sort: z
    .enum(["newest", "oldest", "longest", "costliest"])
    .optional()
    .describe("longest and costliest: ended runs only; costliest: those whose cost is known"),
};

/** Metadata filters contain the field's name. Any other unknown parameter is refused: ignoring it would show all runs as matches. */
const listParameters = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z
    .looseObject(shape)
    .superRefine((query, context) => {
      for (const [name, value] of Object.entries(query)) {
        if (Object.hasOwn(shape, name)) continue;
        if (!/^metadata\../s.test(name)) {
          const names = Object.keys(shape);
          const message = `unknown key${didYouMean(name, names) || `; the keys are: ${names.join(", ")} and metadata.NAME`}`;
          context.addIssue({ code: "custom", path: [name], message });
        } else if (typeof value !== "string")
          context.addIssue({ code: "custom", path: [name], message: "once, please" });
      }
    })
    .meta({ additionalProperties: { type: "string", description: "metadata.NAME=VALUE: runs with this metadata" } });
const ListParameters = listParameters(known);
const TotalParameters = listParameters({
  ...known,
  by: z.enum(groupings).optional().describe("groups them; cause: failed ones by code"),
});

/** State, list and trace of runs. */
export function mountState(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  server.get("/v1/runs/:run", { schema: schemas.get }, async (request, reply) => {
    const runs = host.runsFor(request);
    const row = await runs.get(request.params.run);
    reply.header("x-venturi-run", row.run);
    const pending = await runs.pending(row.run);
    return { ...overview(row), ...(await endingOf(runs, row)), ...(pending.length === 0 ? {} : { pending }) };
  });
  server.get("/v1/runs", { schema: schemas.list }, async (request) => {
    const page = await host.runsFor(request).list({ ...queryOf(request.query), mayLag: true });
    return { runs: page.runs.map(overview), cursor: page.cursor };
  });
  server.get("/v1/totals", { schema: schemas.totals }, async (request) => {
    const { by, limit: _l, cursor: _c, ...query } = request.query;
    const grouping = groupings.find((each) => each === by);
    return totalsView(await host.runsFor(request).totals(queryOf({ limit: 1, ...query }), grouping));
  });
  server.get("/v1/runs/:run/trace", { schema: schemas.trace }, async (request, reply) => {
    const { run } = await host.runsFor(request).get(request.params.run);
    reply.header("x-venturi-run", run);
    host.demand(request, "inspect");
    const trace = await host.trace(run);
    if (trace === undefined) {
      throw new VenturiError("run.trace", "not_found", "the spans of this run are no longer, or not yet, in memory");
    }
    return trace;
  });
  server.get("/v1/runs/:run/content/:hash", { schema: schemas.content }, async (request, reply) => {
    const { run, hash } = request.params;
    const pieces = await host.runsFor(request).contentPieces(run, hash);
    reply.header("x-venturi-run", run);
    // Must never render as a page of this origin, whatever a client or tool stored.
    return reply
      .headers({ "content-disposition": "attachment", "x-content-type-options": "nosniff", etag: `"${hash}"` })
      .type("application/octet-stream")
      .send(Readable.from(inSlices(pieces), { objectMode: false, highWaterMark: slice }));
  });
}

/** Bytes handed to the socket at once; the rest of a piece waits here. */
const slice = 64 * 1024;

async function* inSlices(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces)
    for (let at = 0; at < piece.length; at += slice) yield piece.subarray(at, at + slice);
}

/** How the run ended, from its last event; empty while it runs. */
export async function endingOf(runs: Runs, row: RunRow): Promise<Record<string, unknown>> {
  if (row.state !== "done") return {};
  const last = await terminalOf(runs.follow(row.run, { after: Math.max(0, row.head - 1), channel: "http" }));
  return last === undefined ? {} : ending(last);
}

function queryOf(parameters: z.output<typeof ListParameters>): RunsQuery {
  const { status, q, min, key, sort, label, minScore, maxScore, ratedBy, rated, ...rest } = parameters;
  const rating = Object.entries({ label, minScore, maxScore, by: ratedBy }).filter(([, value]) => value !== undefined);
  const fields = Object.entries(rest);
  const same = Object.fromEntries(fields.filter(([name]) => Object.hasOwn(known, name)));
  const metadata = fields.filter(([name]) => !Object.hasOwn(known, name));
  const query = {
    ...same,
    text: q,
    feedback: rating.length > 0 || rated !== undefined ? Object.fromEntries(rating) : undefined,
    minMs: min,
    by: key,
    metadata:
      metadata.length === 0 ? undefined : Object.fromEntries(metadata.map(([name, value]) => [name.slice(9), value])),
    oldestFirst: sort === "oldest" ? true : undefined,
    sort: sort === "longest" || sort === "costliest" ? sort : undefined,
    ...statusQuery(status),
  };
  const asked = Object.entries(query).filter(([, value]) => value !== undefined);
  return Object.fromEntries(asked) as unknown as RunsQuery; // Without the absent ones.
}

function statusQuery(status: z.output<typeof ListParameters>["status"]): Partial<RunsQuery> {
  if (status === undefined) return {};
  if (status === "finished" || status === "failed" || status === "cancelled") return { outcome: status };
  return status === "waiting" ? { waiting: true } : { state: status, waiting: false };
}

const failures = { "4XX": Failure, "5XX": Failure };
const params = z.object({ run: z.string() });
const schemas = {
  get: {
    summary: "A run's state",
    tags: ["runs"],
    params,
    response: { 200: RunView.meta({ examples: [examples.ended, examples.waiting] }), ...failures },
  },
  list: {
    summary: "Runs, newest first",
    description:
      "With filters: all must fit. q, tool, model, code, min, sort=longest and sort=costliest look at digests of ended runs, which " +
      "journals in SQLite, PostgreSQL and memory keep; `venturi reindex` makes those of runs that ended before there were any. " +
      "metadata.NAME=VALUE compares a field of the metadata: a text, a number or a boolean. Those journals can do it too; it reads " +
      "the requests of all runs that the other filters leave.",
    tags: ["runs"],
    querystring: ListParameters,
    response: {
      200: z.object({ runs: z.array(RunView), cursor: z.string().optional() }).meta({ examples: [examples.list] }),
      ...failures,
    },
  },
  totals: {
    summary: "Sums of the ended runs that fit",
    description:
      "Takes the filters of /v1/runs. Filters on words, tool, duration, session, metadata or feedback count the newest 5,000 that fit; `complete` says whether those are all.",
    tags: ["runs"],
    querystring: TotalParameters,
    response: { 200: TotalsView.meta({ examples: [examples.totals] }), ...failures },
  },
  trace: {
    summary: "A run's spans as OTLP JSON",
    tags: ["runs"],
    params,
    response: { 200: z.unknown().meta({ examples: [examples.trace] }), ...failures },
  },
  content: {
    summary: "An image or a file of a run, by the hash that stands in its events",
    tags: ["runs"],
    params: params.extend({ hash: z.string().regex(/^[0-9a-f]{64}$/) }),
    response: { 200: z.unknown().meta({ examples: [examples.content] }), ...failures },
  },
};
