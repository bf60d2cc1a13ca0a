import type { PluginContext } from "../core/ports/plugin.ts";
import type { Tool } from "../core/ports/tool.ts";
import type { CalledAgent } from "./agent.ts";
import type { CodeTool } from "./tool.ts";

/** A tool defined in code, in the form the loop uses. */
export function codeTool({ name, description, "~tool": { options } }: CodeTool): Tool {
  const { input, exclusive, approval, call } = options;
  return {
    name,
    description,
    parameters: input,
    ...(exclusive === undefined ? {} : { exclusive }),
    ...(typeof approval === "function" ? { approval } : {}),
    call: (given, context) => call(given, context),
  };
}

/** An agent as a tool: the plugin `agent`, with the called run's context. */
export async function calledTool(called: CalledAgent, context: PluginContext): Promise<Tool> {
  const { agent, options } = called["~calls"];
  const plugin = await context.plugin("agent");
  const { description = agent["~agent"].options.description } = options;
  const given = plugin.options.parse({ agent: agent.name, ...(description === undefined ? {} : { description }) });
  const inner = (await plugin.create(given, { ...context, name: called.name })) as Tool; // A plugin with a single tool.
  const { context: stored } = options;
  if (stored === undefined) return inner;
  return { ...inner, call: (input, call) => inner.call(input, { ...call, stored: stored(call.context) }) };
}
