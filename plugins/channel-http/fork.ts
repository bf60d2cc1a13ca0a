import { ForkRequest } from "venturi/internal";
import type { ChannelHost, ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { z } from "zod";
import { examples } from "./examples.ts";
import { Failure } from "./view.ts";

/** `POST /v1/runs/{run}/fork`: a new run that begins with this one's events. */
export function mountFork(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  server.post("/v1/runs/:run/fork", { schema }, async (request, reply) => {
    const { run } = await host.runsFor(request).fork(request.params.run, request.body);
    return reply
      .code(202)
      .headers({ location: `/v1/runs/${run}`, "x-venturi-run": run })
      .send({ run });
  });
}

const schema = {
  summary: "Fork a run from a step",
  description:
    "A new run that takes over the events up to `after`, with edits, and goes on from there. With tools: recorded, the default, a " +
    "call that the original made gets its result and nothing runs; any other asks a person. The new run has no session " +
    "unless a new one is named; the conversation before the original becomes part of its input.",
  tags: ["runs"],
  params: z.object({ run: z.string() }),
  body: ForkRequest.meta({ examples: examples.forks }),
  response: {
    202: z.object({ run: z.string() }).meta({ examples: [examples.accepted] }),
    "4XX": Failure,
    "5XX": Failure,
  },
};
