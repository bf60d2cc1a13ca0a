import { named, RunEvent } from "venturi/internal";
import { type ChannelHost, VenturiError, type ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { eventFrame, heartbeatFrame, streamRun } from "venturi/plugin/channel";
import { z } from "zod";
import { examples } from "./examples.ts";
import { Failure, RunView, statusOf } from "./view.ts";

/**
 * `GET /v1/runs/{run}/events`: every event after `Last-Event-ID` or `?after=`, then live, then the end. With
 * `accept: application/json`, one page of what is committed.
 */
export function mountFollow(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  server.get("/v1/runs/:run/events", { schema }, async (request, reply) => {
    const { run } = request.params;
    const runs = host.runsFor(request);
    const after = position(request.headers["last-event-id"]) ?? request.query.after ?? 0;
    const row = await runs.get(run);
    reply.header("x-venturi-run", run);
    if (wantsPage(request.headers.accept)) {
      const { limit, steps } = request.query;
      const { events, next } = await runs.events(run, { after, limit, steps });
      return { run, status: statusOf(row), head: row.head, events, next };
    }
    const served = { host, runs, run, reply, channel: "http", onDisconnect: "continue", after } as const;
    await streamRun(served, eventFrame, { heartbeat: () => heartbeatFrame(run) });
    return reply;
  });
}

/** A client that accepts both gets the stream. */
const wantsPage = (accept = ""): boolean => accept.includes("application/json") && !accept.includes("event-stream");

const EventPageView = z.object({
  run: z.string(),
  status: RunView.shape.status,
  head: z.number().int().describe("seq of its last event"),
  events: z.array(RunEvent),
  next: z.number().int().optional().describe("`after` of the next page; absent at the end of what is committed"),
});

named("EventPage", EventPageView);

const schema = {
  summary: "Follow a run's events, or read a page of them",
  description:
    "Server-sent events; `id` is the event's seq. Resumes after Last-Event-ID or ?after=. With Accept: application/json " +
    "a page of the events so far, without waiting; ?steps=1 leaves out the pieces of streams.",
  tags: ["runs"],
  params: z.object({ run: z.string() }),
  querystring: z.object({
    after: z.coerce.number().int().nonnegative().optional(),
    limit: z.coerce.number().int().min(1).max(5_000).default(500).describe("of a page"),
    steps: z
      .enum(["0", "1"])
      .default("0")
      .transform((value) => value === "1")
      .describe("of a page: no deltas"),
  }),
  response: {
    200: {
      description: "Events: `data` of each is one; or a page of them",
      content: {
        "text/event-stream": { schema: RunEvent, example: examples.events },
        "application/json": { schema: EventPageView.meta({ examples: [examples.eventPage] }) },
      },
    },
    "4XX": Failure,
    "5XX": Failure,
  },
};

function position(header: string | string[] | undefined): number | undefined {
  if (header === undefined || header === "") return undefined;
  const after = Number(header);
  if (Number.isSafeInteger(after) && after >= 0) return after;
  throw new VenturiError("run.follow", "invalid_input", "Last-Event-ID is the id of an event of this run");
}
