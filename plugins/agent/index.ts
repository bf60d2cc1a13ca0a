import { didYouMean } from "venturi/internal";
import { definePlugin, defineTool, fromToolOptions, toolOptions } from "venturi/plugin";
import { z } from "zod";
import { runAgent } from "./run.ts";

export default definePlugin({
  name: "agent",
  kind: "tool",
  description: "An agent of this service as a tool",
  options: z.strictObject({
    ...toolOptions,
    agent: z.string().describe("the agent's name under agents:"),
    description: z.string().optional().describe("description for the calling model"),
    maxDepth: z.number().int().min(1).max(16).default(3).describe("how deep agents may call agents"),
    effect: z.enum(["pure", "idempotent", "effectful"]).default("effectful"),
  }),
  check: ({ agent }, { agents }) =>
    agents.includes(agent)
      ? []
      : [
          {
            path: ["agent"],
            message: `there is no agent "${agent}"${didYouMean(agent, agents)}; the agents are: ${agents.join(", ") || "none"}`,
          },
        ],
  create: (options, context) =>
    defineTool({
      ...fromToolOptions(options),
      name: context.name,
      description: options.description ?? `Gives a task to the agent "${options.agent}" and answers with its result.`,
      input: z.strictObject({
        task: z.string().min(1).describe("the whole task; the agent sees nothing else of this conversation"),
        variables: z.record(z.string(), z.unknown()).optional().describe("values for the inputs the agent declares"),
      }),
      effect: options.effect,
      resumable: true,
      call: (input, call) => runAgent(context.runs(), { ...options, ...input }, call),
    }),
});
