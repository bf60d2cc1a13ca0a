import type { Telemetry } from "../core/telemetry.ts";
import { isToolSource, type Tool, type ToolSource } from "../core/tool.ts";
import type { ToolEntry } from "./config/entries.ts";

/** The tools that an entry of the config stands for now, as it wants them and measured. */
export function toolsOf(entry: ToolEntry, instance: Tool | ToolSource, telemetry: Telemetry): () => readonly Tool[] {
  if (!isToolSource(instance)) {
    const tools = [telemetry.tool(configured(entry, instance, entry.name))];
    return () => tools;
  }
  // A source is asked every round; a tool it still has keeps its identity, which schemas are cached by.
  const known = new WeakMap<Tool, Tool>();
  return () =>
    instance.list().map((tool) => {
      const before = known.get(tool);
      if (before !== undefined) return before;
      const made = telemetry.tool(configured(entry, tool, tool.name));
      known.set(tool, made);
      return made;
    });
}

/** What the config says of a tool counts more than what the tool says of itself. */
function configured(entry: ToolEntry, tool: Tool, name: string): Tool {
  const { approval = tool.approval, timeout = tool.timeout, maxOutput = tool.maxOutput } = entry;
  const { effect = tool.effect } = entry;
  return {
    name,
    description: tool.description,
    parameters: tool.parameters,
    ...(effect === undefined ? {} : { effect }),
    ...(tool.exclusive === undefined ? {} : { exclusive: tool.exclusive }),
    ...(approval === undefined ? {} : { approval }),
    ...(timeout === undefined ? {} : { timeout }),
    ...(maxOutput === undefined ? {} : { maxOutput }),
    call: (input, context) => tool.call(input, context),
  };
}
