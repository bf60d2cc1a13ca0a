import { explainRun, sourceOf, Why } from "venturi/internal";
import type { ChannelHost, ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { z } from "zod";
import { examples } from "./examples.ts";
import { Failure } from "./view.ts";

/** `GET /v1/runs/{run}/why`: what made the run slow or fail, from its events. */
export function mountWhy(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  server.get("/v1/runs/:run/why", { schema }, async (request, reply) => {
    const runs = host.runsFor(request);
    const why = await explainRun(sourceOf(runs), request.params.run);
    reply.header("x-venturi-run", request.params.run);
    return why;
  });
}

const schema = {
  summary: "Why a run was slow or failed",
  description: "A paragraph and a table, computed from the run's events.",
  tags: ["runs"],
  params: z.object({ run: z.string() }),
  response: { 200: Why.meta({ examples: [examples.why] }), "4XX": Failure, "5XX": Failure },
};
