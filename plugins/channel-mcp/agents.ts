import { type AgentInfo, type RunInput, type Runs, VenturiError } from "venturi/plugin";
import { invalidParams, isObject, type Json } from "./rpc.ts";

/** Agents as tools: the arguments are the agent's inputs, plus the text and the conversation to continue. */
export const toolsOf = (runs: Runs, { isLegacy }: { isLegacy: boolean }): Json[] =>
  runs.agents().map((agent) => ({
    name: agent.name,
    description: agent.description ?? `The agent ${agent.name}`,
    inputSchema: schemaOf(agent),
    // Agents can do whatever their tools do.
    annotations: { readOnlyHint: false, openWorldHint: true },
    ...(isLegacy ? { execution: { taskSupport: "optional" } } : {}),
  }));

export function agentNamed(runs: Runs, name: unknown): AgentInfo {
  const found = runs.agents().find((agent) => agent.name === name);
  if (found === undefined) throw invalidParams(`there is no tool ${JSON.stringify(name)}`);
  return found;
}

function schemaOf(agent: AgentInfo): Json {
  const declared = agent.inputs ?? {};
  const inputs = inputsOf(agent);
  const required = [
    ...(Array.isArray(declared.required) ? declared.required : []),
    ...(takesOnlyText(agent) ? ["input"] : []),
  ];
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    ...declared,
    properties: { ...extra, ...inputs },
    ...(required.length === 0 ? {} : { required }),
  };
}

const extra: Readonly<Record<string, Json>> = {
  input: { type: "string", description: "What the agent is asked" },
  session: { type: "string", description: "Name of the conversation to go on; a new one when absent", maxLength: 256 },
};

export const inputsOf = (agent: AgentInfo): Readonly<Record<string, Json>> =>
  isObject(agent.inputs?.properties) ? (agent.inputs.properties as Record<string, Json>) : {};

const takesOnlyText = (agent: AgentInfo): boolean => Object.keys(inputsOf(agent)).length === 0;

/** Converts a call's arguments to a run's input. The agent's own inputs take precedence over ours of the same name. */
export function runInput(agent: AgentInfo, given: unknown): { input: RunInput; session?: string } {
  const own = inputsOf(agent);
  const variables: Record<string, unknown> = {};
  const ours: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(isObject(given) ? given : {})) {
    if (Object.hasOwn(extra, name) && !Object.hasOwn(own, name)) ours[name] = value;
    else variables[name] = value;
  }
  const { input, session } = ours;
  // Models send null for what they leave out.
  if (input != null && typeof input !== "string") throw invalid("input: expected a string");
  if (input == null && takesOnlyText(agent)) throw invalid("input is missing");
  if (session != null && (typeof session !== "string" || session.length > 256))
    throw invalid("session: expected a string of at most 256 characters");
  const text = input ?? JSON.stringify(variables);
  return {
    input: { text, ...(Object.keys(variables).length === 0 ? {} : { variables }) },
    ...(session == null || session === "" ? {} : { session }),
  };
}

const invalid = (message: string): VenturiError => new VenturiError("run.start", "invalid_input", message);
