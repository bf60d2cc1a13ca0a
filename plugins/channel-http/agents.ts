import { named } from "venturi/internal";
import { type ChannelHost, VenturiError, type ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { z } from "zod";
import { examples } from "./examples.ts";
import { Failure } from "./view.ts";

const Pause = z
  .object({ since: z.number(), by: z.string().optional(), reason: z.string().optional() })
  .describe("its runs wait, since then");

const AgentView = named(
  "AgentView",
  z.object({
    name: z.string(),
    description: z.string().optional(),
    model: z.string(),
    models: z.array(z.string()).describe("models that a call may choose instead"),
    tools: z.array(z.object({ name: z.string(), description: z.string(), parameters: z.unknown() })),
    inputs: z.unknown().optional().describe("JSON Schema of the input variables"),
    paused: Pause.optional(),
  }),
);

/** `/v1/agents`: lists the agents, and whether they are paused. */
export function mountAgents(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  server.get("/v1/agents", { schema: schemas.list }, async (request) => ({ agents: host.runsFor(request).agents() }));
  server.post("/v1/agents/:agent/pause", { schema: schemas.pause }, async (request) => {
    const { agent } = request.params;
    const { reason } = request.body ?? {};
    const changed = await host.runsFor(request).pauseAgent?.(agent, reason === undefined ? {} : { reason });
    return { agent, changed: changed ?? unable() };
  });
  server.post("/v1/agents/:agent/resume", { schema: schemas.resume }, async (request) => {
    const { agent } = request.params;
    return { agent, changed: (await host.runsFor(request).resumeAgent?.(agent)) ?? unable() };
  });
}

function unable(): never {
  throw new VenturiError("agent.pause", "invalid_input", "agents can't be paused here");
}

const Changed = z
  .object({ agent: z.string(), changed: z.boolean().describe("false: it was so already") })
  .meta({ examples: [{ agent: "assistant", changed: true }] });
const failures = { "4XX": Failure, "5XX": Failure };
const params = z.object({ agent: z.string() });
const schemas = {
  list: {
    summary: "The agents the key may use",
    tags: ["agents"],
    response: { 200: z.object({ agents: z.array(AgentView) }).meta({ examples: [examples.agents] }) },
  },
  pause: {
    summary:
      "Pause an agent: its runs finish their round and wait, new ones wait too, over restarts and on all replicas",
    tags: ["agents"],
    params,
    body: z
      .strictObject({ reason: z.string().max(4000).optional() })
      .nullish()
      .meta({ examples: [{ reason: "the shop is closed" }] }),
    response: { 200: Changed, ...failures },
  },
  resume: {
    summary: "Let the runs of a paused agent go on",
    tags: ["agents"],
    params,
    body: z
      .strictObject({})
      .nullish()
      .meta({ examples: [{}] }),
    response: { 200: Changed, ...failures },
  },
};
