import type { GenerationOptions } from "../../core/model/provider.ts";
import type { RunRequest } from "../../core/run/run-request.ts";
import type { AgentDefinition } from "../run/definition.ts";
import type { ToolTable } from "../tools/tool-table.ts";

type Layer = (agent: AgentDefinition, request: RunRequest, tools: ToolTable) => GenerationOptions | undefined;

/** Precedence of generation options. Later layers win, key by key. */
export const precedence: Readonly<Record<string, Layer>> = {
  defaults: ({ defaults }) => defaults,
  model: ({ model }) => model.options,
  "model, with tools": ({ model }, _request, tools) => (tools.specs.length > 0 ? model.toolOptions : undefined),
  agent: ({ options }) => options,
  call: (_agent, { options }) => options,
};

/** Merges the options of a generation. `null` removes an earlier layer's value, so that the provider's default applies. */
export function optionsFor(agent: AgentDefinition, request: RunRequest, tools: ToolTable): GenerationOptions {
  const merged: Record<string, unknown> = {};
  for (const layer of Object.values(precedence)) {
    for (const [key, value] of Object.entries(layer(agent, request, tools) ?? {})) {
      if (value === null) delete merged[key];
      else if (value !== undefined) merged[key] = value;
    }
  }
  return merged;
}
