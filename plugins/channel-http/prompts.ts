import { Prompt } from "venturi/internal";
import { type ChannelHost, VenturiError, type ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { z } from "zod";
import { examples } from "./examples.ts";
import { Failure } from "./view.ts";

/** `/v1/runs/{run}/prompts/{round}`: the request of a round to its model. */
export function mountPrompts(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  server.get("/v1/runs/:run/prompts/:round", { schema }, async (request, reply) => {
    const { run, round } = request.params;
    const runs = host.runsFor(request);
    await runs.get(run);
    host.demand(request, "inspect");
    if (runs.prompt === undefined) throw new VenturiError("run.prompt", "not_found", "prompts are not known here");
    reply.header("x-venturi-run", run);
    return await runs.prompt(run, round);
  });
}

const schema = {
  summary: "What a round asked its model with",
  description:
    "Made again from the run's events and its agent's revision, by the code that made it then. Needs the scope inspect: it has the " +
    "agent's instructions.",
  tags: ["runs"],
  params: z.object({ run: z.string(), round: z.coerce.number().int().positive() }),
  response: { 200: Prompt.meta({ examples: [examples.prompt] }), "4XX": Failure, "5XX": Failure },
};
