import { Sample, ServiceView } from "venturi/internal";
import type { ChannelHost, ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { z } from "zod";
import { examples } from "./examples.ts";
import { Failure } from "./view.ts";

/** State of the service, and its figures of the last hour. */
export function mountService(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  server.get("/v1/service", { schema: schemas.service }, async (request) => {
    host.demand(request, "inspect");
    return await host.inspect.service({ config: host.scopes(request).includes("metrics") });
  });
  server.get("/v1/service/series", { schema: schemas.series }, async (request) => {
    host.demand(request, "inspect");
    return host.inspect.series(request.query.after);
  });
}

const failures = { "4XX": Failure, "5XX": Failure };
const schemas = {
  service: {
    summary: "State of the service",
    description:
      "Of the process that answers: version, revision, journal, breakers, models, tools, channels. Needs the scope inspect; the " +
      "configuration, secrets masked, is shown to keys that may metrics too.",
    tags: ["operations"],
    response: { 200: ServiceView.meta({ examples: [examples.service] }), ...failures },
  },
  series: {
    summary: "Figures of the last hour, a sample every five seconds",
    description: "Of the process that answers. Needs the scope inspect.",
    tags: ["operations"],
    querystring: z.object({ after: z.coerce.number().default(0).describe("samples taken after this time only") }),
    response: {
      200: z.object({ every: z.number(), samples: z.array(Sample) }).meta({ examples: [examples.series] }),
      ...failures,
    },
  },
};
