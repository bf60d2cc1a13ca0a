import type { AgentDefinition } from "../../agent/run/definition.ts";
import { inputSchema } from "../../agent/run/inputs.ts";
import { jsonSchemaOf } from "../../agent/schema/standard.ts";
import { specOf } from "../../agent/tools/tool-table.ts";
import type { AgentInfo } from "../../core/ports/runs.ts";

export const infoOf = (agent: AgentDefinition): AgentInfo => ({
  name: agent.name,
  aliases: agent.aliases,
  description: agent.description,
  model: agent.model.name,
  models: [...agent.overrides.models.keys()],
  tools: agent.tools().map(specOf),
  memory: agent.tools().flatMap(({ memory }) => (memory === undefined ? [] : [memory])),
  stores: storesOf(agent),
  inputs: inputsOf(agent),
  revision: agent.revision,
});

function storesOf({ recall, tools }: AgentDefinition): string[] {
  const named = tools().flatMap(({ store }) => store ?? []);
  return [...new Set(recall === undefined ? named : [recall.notes.name, ...named])];
}

function inputsOf({ inputs, inputsSchema }: AgentDefinition): AgentInfo["inputs"] {
  if (inputsSchema !== undefined) return jsonSchemaOf(inputsSchema);
  return Object.keys(inputs).length === 0 ? undefined : inputSchema(inputs);
}
