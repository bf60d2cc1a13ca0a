import type { Tool } from "../../core/ports/tool.ts";
import type { AgentSettings } from "../config/agents.ts";

/**
 * The tools that hand a run to another agent. Effectful, so that nothing is handed over before the generation has ended; resumable, because
 * a repeated transfer finds its own event.
 */
export const handoffTools = (
  { handoffs }: AgentSettings,
  agents: Readonly<Record<string, AgentSettings>>,
): readonly Tool[] =>
  handoffs.map((name) => {
    const about = agents[name]?.description;
    return {
      name: handoffName(name),
      description: `Hands the conversation to the agent "${name}", which goes on from here.${about === undefined ? "" : ` ${about}`}`,
      parameters: { type: "object", properties: {}, additionalProperties: true },
      effect: "effectful",
      resumable: true,
      local: true,
      async call(_input, context) {
        await context.transfer(name);
        return `The conversation is now with ${name}.`;
      },
    };
  });

/** Agent names may contain characters that tool names may not. */
const handoffName = (agent: string): string => `transfer_to_${agent.replaceAll(/[^A-Za-z0-9_-]/g, "_")}`.slice(0, 64);
