import { VenturiError, wrap } from "../../core/errors/errors.ts";
import type { RunInput } from "../../core/run/event-fields.ts";
import { readSchema } from "../schema/json-schema.ts";
import { parse } from "../schema/standard.ts";
import type { AgentDefinition } from "./definition.ts";

const op = "agent.input";

/** Validates a run's input against the agent's declarations before anything streams, and fills in defaults. */
export function checkInput(agent: AgentDefinition, input: RunInput): RunInput {
  if (input.text === undefined && !input.messages?.length) {
    throw new VenturiError(op, "invalid_input", "the input has neither text nor messages");
  }
  if (input.text?.trim() === "" && !input.messages?.length) {
    throw new VenturiError(op, "invalid_input", "the input's text is empty");
  }
  const given = input.variables ?? {};
  if (agent.inputsSchema !== undefined) {
    inputsOf(agent, input);
    return input;
  }
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(agent.inputs, name));
  if (unknown.length > 0) {
    const known = Object.keys(agent.inputs).join(", ") || "none";
    throw new VenturiError(op, "invalid_input", `unknown input ${unknown.join(", ")}; ${agent.name} takes: ${known}`);
  }
  const variables: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(agent.inputs)) variables[name] = inputValue(name, schema, given);
  return Object.keys(variables).length === 0 ? input : { ...input, variables };
}

/** The input variables after the agent's schema applied defaults and transforms. Throws `invalid_input`. */
function inputsOf({ name, inputsSchema }: AgentDefinition, { variables }: RunInput): Readonly<Record<string, unknown>> {
  if (inputsSchema === undefined) return variables ?? {};
  const parsed = parse(inputsSchema, variables ?? {}, "inputs");
  if (parsed.ok) return parsed.value as Record<string, unknown>; // An inputs schema always describes an object.
  throw new VenturiError(
    op,
    "invalid_input",
    `the inputs do not fit ${name}: ${parsed.problems.slice(0, 5).join("; ")}`,
  );
}

/** The instructions that the agent's function writes for a run; undefined when it has none. */
export async function writtenInstructions(
  { agent, context }: { readonly agent: AgentDefinition; readonly context: unknown },
  input: RunInput,
): Promise<string | undefined> {
  if (agent.writeInstructions === undefined) return undefined;
  try {
    return await agent.writeInstructions({ inputs: inputsOf(agent, input), context });
  } catch (thrown) {
    throw wrap("agent.instructions", thrown, "plugin_failed");
  }
}

/** The input variables as one JSON Schema, matching what `checkInput` enforces. */
export const inputSchema = (inputs: AgentDefinition["inputs"]): Readonly<Record<string, unknown>> => ({
  type: "object",
  properties: inputs,
  required: Object.keys(inputs).filter((name) => inputs[name]?.default === undefined),
  additionalProperties: false,
});

function inputValue(
  name: string,
  schema: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
): unknown {
  const value = Object.hasOwn(given, name) ? given[name] : schema.default;
  if (value === undefined) {
    throw new VenturiError(op, "invalid_input", `the input "${name}" is missing`, { details: { input: name } });
  }
  const [problem] = readSchema(schema).problems(value);
  if (problem === undefined) return value;
  const message = `the input "${name}" ${problem.path} ${problem.message}`;
  throw new VenturiError(op, "invalid_input", message.replace(/ +/g, " "), { details: { input: name } });
}

const placeholder = /\{\{\s*([\w-]+)\s*\}\}/g;

/** Names of the placeholders in instructions. */
export const placeholders = (instructions: string): string[] =>
  [...instructions.matchAll(placeholder)].map(([, name = ""]) => name);

/** The agent's instructions with each `{{name}}` replaced by the input of that name. */
export function instructionsFor(agent: AgentDefinition, input: RunInput): string {
  if (!agent.instructions.includes("{{")) return agent.instructions;
  const variables = inputsOf(agent, input);
  return agent.instructions.replace(placeholder, (whole, name: string) => {
    if (!Object.hasOwn(variables, name)) return whole;
    const value = variables[name];
    return typeof value === "string" ? value : JSON.stringify(value);
  });
}
