import { createHash } from "node:crypto";
import { specOf } from "../../agent/tools/tool-table.ts";
import type { ToolRegistry } from "../../core/ports/registries.ts";
import type { AgentSettings } from "../config/agents.ts";
import type { Config } from "../config/load.ts";

/**
 * Hash of what models and the journal see of an agent: model, instructions, tools, schemas, handoffs and the program's own revision.
 * Excludes function bodies, which bundlers rewrite, and limits and policies, which may change during a run. For plugins' tools only the
 * config entry counts, since a server's offer may change at any time.
 */
export function agentRevision(
  name: string,
  settings: AgentSettings,
  { config, tools }: { readonly config: Config; readonly tools: Pick<ToolRegistry, "get"> },
): string {
  const code = config.code?.agents.get(name);
  const toolOf = (entry: string) => {
    const { type, approval, effect } = config.tools[entry] ?? {};
    if (type !== "code") return { entry, type, approval, effect };
    return (tools.get(entry)?.() ?? []).map((tool) => ({
      spec: specOf(tool),
      effect: tool.effect ?? "effectful",
      approval: typeof tool.approval === "function" ? "function" : (tool.approval ?? "never"),
    }));
  };
  const seen = {
    name,
    model: withoutShadow(config.models[settings.model]) ?? settings.model,
    options: settings.options,
    instructions: code?.writeInstructions === undefined ? settings.instructions : "function",
    inputs: settings.inputs,
    output: settings.output,
    handoffs: settings.handoffs,
    tools: settings.tools.map(toolOf),
    // Absent without skills, so that revisions computed by earlier releases stay the same.
    skills: config.skills.get(name)?.map((skill) => [skill.name, skill.hash]),
    revision: code?.revision,
  };
  return createHash("sha256").update(JSON.stringify(seen)).digest("hex").slice(0, 12);
}

/** A shadow runs after the run and does not affect it. */
const withoutShadow = (model: Config["models"][string] | undefined): object | undefined => {
  const { shadow: _, ...seen } = model ?? {};
  return model && seen;
};
