import type { AgentInfo, Runs } from "venturi/plugin";
import { agentNamed, inputsOf } from "./agents.ts";
import { invalidParams, isObject, type Json } from "./rpc.ts";

/** An agent as a prompt: a form of its inputs. What it is told by its operator stays here. */
export const promptsOf = (runs: Runs): Json[] =>
  runs.agents().map((agent) => ({
    name: agent.name,
    ...(agent.description === undefined ? {} : { description: agent.description }),
    arguments: argumentsOf(agent),
  }));

function argumentsOf(agent: AgentInfo): Json[] {
  const required = Array.isArray(agent.inputs?.required) ? agent.inputs.required : [];
  const own = Object.entries(inputsOf(agent)).map(([name, { description }]) => ({
    name,
    ...(typeof description === "string" ? { description } : {}),
    required: required.includes(name),
  }));
  return own.length > 0 ? own : [{ name: "input", description: "What the agent is asked", required: true }];
}

export function getPrompt(runs: Runs, { name, arguments: given }: Json): Json {
  const agent = agentNamed(runs, name);
  const values = isObject(given) ? given : {};
  const names = argumentsOf(agent).map((argument) => String(argument.name));
  const unknown = Object.keys(values).find((key) => !names.includes(key));
  if (unknown !== undefined) throw invalidParams(`${agent.name} takes no argument ${unknown}`);
  const lines = names.filter((key) => values[key] !== undefined).map((key) => `${key}: ${String(values[key])}`);
  const text = [`Ask the agent ${agent.name}.`, agent.description, ...lines].filter(Boolean).join("\n");
  return {
    ...(agent.description === undefined ? {} : { description: agent.description }),
    messages: [{ role: "user", content: { type: "text", text } }],
  };
}

const mostValues = 100;

/** Values of an input that has a list of them. */
export function complete(runs: Runs, { ref, argument }: Json): Json {
  const isPrompt = isObject(ref) && ref.type === "ref/prompt";
  const agent = isPrompt ? runs.agents().find(({ name }) => name === ref.name) : undefined;
  const { name, value } = isObject(argument) ? argument : {};
  const listed = agent === undefined ? undefined : inputsOf(agent)[String(name)]?.enum;
  const all = (Array.isArray(listed) ? listed.map(String) : []).filter((one) => one.startsWith(String(value ?? "")));
  return { completion: { values: all.slice(0, mostValues), total: all.length, hasMore: all.length > mostValues } };
}
