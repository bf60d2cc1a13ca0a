import { Feedback, GivenFeedback } from "venturi/internal";
import type { ChannelHost, ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { z } from "zod";
import { examples } from "./examples.ts";
import { Failure } from "./view.ts";

/** `/v1/runs/{run}/feedback`: people's feedback on a run. */
export function mountFeedback(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  server.post("/v1/runs/:run/feedback", { schema: schemas.give }, async (request, reply) => {
    const { run } = request.params;
    const feedback = await host.runsFor(request).giveFeedback(run, request.body);
    return reply.header("x-venturi-run", run).code(201).send(feedback);
  });
  server.get("/v1/runs/:run/feedback", { schema: schemas.list }, async (request, reply) => {
    const { run } = request.params;
    reply.header("x-venturi-run", run);
    return { feedback: [...(await host.runsFor(request).feedback(run))] };
  });
}

const failures = { "4XX": Failure, "5XX": Failure };
const params = z.object({ run: z.string() });
const schemas = {
  give: {
    summary: "Say what you think of a run",
    description:
      "Kept beside the run, never in its journal, and erased with it. A second one by the same key, of the same `by` and about the " +
      "same `seq`, replaces the first. Needs the scope steer, unless the same connection started the run.",
    tags: ["runs"],
    params,
    body: GivenFeedback.meta({ examples: examples.givenFeedback }),
    response: { 201: Feedback.meta({ examples: [examples.feedback] }), ...failures },
  },
  list: {
    summary: "A run's feedback, oldest first",
    tags: ["runs"],
    params,
    response: {
      200: z.object({ feedback: z.array(Feedback) }).meta({ examples: [{ feedback: [examples.feedback] }] }),
      ...failures,
    },
  },
};
