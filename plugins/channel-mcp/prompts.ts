import type { AgentInfo, Runs } from "venturi/plugin";
import { agentNamed, inputsOf } from "./agents.ts";
import type { PublishedPrompt } from "./options.ts";
import { filled } from "./published.ts";
import { invalidParams, isObject, type Json } from "./rpc.ts";
import type { Serving } from "./serving.ts";

/** The operator's prompts, and agents as prompts: a form of their inputs. The agents' instructions are not exposed. */
export function promptsOf({ runs, published }: Serving): Json[] {
  const written = [...published.prompts].map(([name, { description, arguments: given }]) => ({
    name,
    ...(description === undefined ? {} : { description }),
    arguments: Object.entries(given).map(([argument, facts]) => ({ name: argument, ...facts })),
  }));
  const agents = runs.agents().filter(({ name }) => !published.prompts.has(name));
  const forms = agents.map((agent) => ({
    name: agent.name,
    ...(agent.description === undefined ? {} : { description: agent.description }),
    arguments: argumentsOf(agent),
  }));
  return [...written, ...forms];
}

function argumentsOf(agent: AgentInfo): Json[] {
  const required = Array.isArray(agent.inputs?.required) ? agent.inputs.required : [];
  const own = Object.entries(inputsOf(agent)).map(([name, { description }]) => ({
    name,
    ...(typeof description === "string" ? { description } : {}),
    required: required.includes(name),
  }));
  return own.length > 0 ? own : [{ name: "input", description: "What the agent is asked", required: true }];
}

export function getPrompt({ runs, published }: Serving, { name, arguments: given }: Json): Json {
  const values = isObject(given) ? given : {};
  const written = published.prompts.get(textOf(name));
  if (written !== undefined) return writtenPrompt(written, values);
  const agent = agentNamed(runs, name);
  const names = argumentsOf(agent).map((argument) => String(argument.name));
  const unknown = Object.keys(values).find((key) => !names.includes(key));
  if (unknown !== undefined) throw invalidParams(`${agent.name} takes no argument ${unknown}`);
  const lines = names.filter((key) => values[key] !== undefined).map((key) => `${key}: ${textOf(values[key])}`);
  const text = [`Ask the agent ${agent.name}.`, agent.description, ...lines].filter(Boolean).join("\n");
  return {
    ...(agent.description === undefined ? {} : { description: agent.description }),
    messages: [{ role: "user", content: { type: "text", text } }],
  };
}

function writtenPrompt({ description, arguments: declared, messages }: PublishedPrompt, given: Json): Json {
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(declared, key));
  if (unknown !== undefined) throw invalidParams(`the prompt takes no argument ${unknown}`);
  const missing = Object.entries(declared).find(([key, { required }]) => required && given[key] === undefined);
  if (missing !== undefined) throw invalidParams(`the argument ${missing[0]} is missing`);
  const values = Object.fromEntries(Object.keys(declared).map((key) => [key, textOf(given[key] ?? "")]));
  return { ...(description === undefined ? {} : { description }), messages: filled(messages, values) };
}

/** Arguments are texts; an object's own `toString` is the client's, and may be no function. */
const textOf = (value: unknown): string => (typeof value === "object" ? JSON.stringify(value) : String(value));

const mostValues = 100;

/** Completes an input that has a list of values. */
export function complete(runs: Runs, { ref, argument }: Json): Json {
  const isPrompt = isObject(ref) && ref.type === "ref/prompt";
  const agent = isPrompt ? runs.agents().find(({ name }) => name === ref.name) : undefined;
  const { name, value } = isObject(argument) ? argument : {};
  const listed = agent === undefined ? undefined : inputsOf(agent)[textOf(name)]?.enum;
  const all = (Array.isArray(listed) ? listed.map(String) : []).filter((one) => one.startsWith(textOf(value ?? "")));
  return { completion: { values: all.slice(0, mostValues), total: all.length, hasMore: all.length > mostValues } };
}
