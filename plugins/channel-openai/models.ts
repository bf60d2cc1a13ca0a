import { type ChannelHost, VenturiError, type ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { z } from "zod";

/** Lists the agents as models. */
export function mountModels(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  server.get("/models", { schema: { summary: "The agents, as models", tags: ["openai"] } }, async (request) => ({
    object: "list",
    data: host
      .runsFor(request)
      .agents()
      .flatMap((agent) => [agent.name, ...agent.aliases].map(model)),
  }));
  const schema = { summary: "One agent, as a model", tags: ["openai"], params: z.object({ "*": z.string() }) };
  // A wildcard, because names may contain slashes.
  server.get("/models/*", { schema }, async (request) => {
    const name = request.params["*"];
    const agent = host
      .runsFor(request)
      .agents()
      .find((candidate) => candidate.name === name || candidate.aliases.includes(name));
    if (agent === undefined) throw new VenturiError("agent.get", "not_found", `there is no agent "${name}"`);
    return model(name);
  });
}

const model = (id: string) => ({ id, object: "model", created: 0, owned_by: "venturi" });
