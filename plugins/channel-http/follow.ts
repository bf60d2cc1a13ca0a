import {
  type ChannelHost,
  eventFrame,
  type FastifyInstance,
  heartbeatFrame,
  SseWriter,
  VenturiError,
  writeBatches,
  type ZodRoutes,
} from "venturi/plugin";
import { z } from "zod";
import { examples } from "./examples.ts";
import { Failure } from "./view.ts";

/** `GET /v1/runs/{run}/events`: every event after `Last-Event-ID` or `?after=`, then live, then the end. */
export function mountFollow(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  server.get("/v1/runs/:run/events", { schema }, async (request, reply) => {
    const { run } = request.params;
    const runs = host.runsFor(request);
    const after = position(request.headers["last-event-id"]) ?? request.query.after ?? 0;
    await runs.get(run);
    reply.header("x-venturi-run", run);
    const writer = new SseWriter(reply, host.limits, { heartbeat: () => heartbeatFrame(run) });
    if (after > 0) writer.open();
    try {
      await writeBatches(runs.follow(run, { after, signal: writer.gone, channel: "http" }), writer, eventFrame);
      writer.end();
    } catch (thrown) {
      host.log.warn("a stream was cut", { run, error: String(thrown) });
      writer.destroy();
    }
    return reply;
  });
}

const schema = {
  summary: "Follow a run's events",
  description: "Server-sent events; `id` is the event's seq. Resumes after Last-Event-ID or ?after=.",
  tags: ["runs"],
  params: z.object({ run: z.string() }),
  querystring: z.object({ after: z.coerce.number().int().nonnegative().optional() }),
  response: { 200: z.string().meta({ examples: [examples.events] }), "4XX": Failure, "5XX": Failure },
};

function position(header: string | string[] | undefined): number | undefined {
  if (header === undefined || header === "") return undefined;
  const after = Number(header);
  if (Number.isSafeInteger(after) && after >= 0) return after;
  throw new VenturiError("run.follow", "invalid_input", "Last-Event-ID is the id of an event of this run");
}
