import { questionWords, tryAnswer } from "venturi/internal";
import type { AgentInfo, PendingQuestion, Runs } from "venturi/plugin";
import { isObject, type Json } from "./rpc.ts";
import type { Serving } from "./serving.ts";

export interface Open {
  readonly agent: string;
  /** Forms of the waiting calls. */
  readonly forms: ReadonlyMap<string, Json>;
  readonly questions: readonly PendingQuestion[];
}

/** Questions that the client's user may answer; others wait for somebody else. */
export async function openQuestions(
  { runs, client, may }: Serving,
  run: string,
  isNew: (question: PendingQuestion) => boolean = () => true,
): Promise<Open | undefined> {
  if (!client.elicits || !may.approve) return undefined;
  const pending = (await runs.pending(run)).filter(isNew);
  if (pending.length === 0) return undefined;
  const { agent } = await runs.get(run);
  const info = runs.agents().find(({ name }) => name === agent);
  const forms = new Map(pending.map((question) => [question.call, elicitation(info, question)]));
  return { agent, forms, questions: pending };
}

export const inputRequests = (forms: Open["forms"]): Json =>
  Object.fromEntries([...forms].map(([call, params]) => [call, { method: "elicitation/create", params }]));

/**
 * A run's question as a form for the client's user. Accepting approves the call with the form's values; arguments that no form can show
 * stay as the model wrote them.
 */
function elicitation(agent: AgentInfo | undefined, question: PendingQuestion): Json {
  const isForm = question.message !== undefined;
  return {
    mode: "form",
    message: questionWords(agent?.name, question),
    requestedSchema: isForm ? (question.schema ?? textForm(question.choices)) : formOf(agent, question),
  };
}

/** A form is an object, so a text answer gets its own field. */
const textForm = (choices: readonly string[] | undefined): Json => ({
  type: "object",
  properties: { answer: { type: "string", ...(choices === undefined ? {} : { enum: [...choices] }) } },
  required: ["answer"],
});

/** Forms are flat: texts, numbers, booleans and choices. */
function formOf(agent: AgentInfo | undefined, { name, arguments: given }: PendingQuestion): Json {
  const parameters = agent?.tools.find((tool) => tool.name === name)?.parameters;
  const declared = isObject(parameters?.properties) ? parameters.properties : {};
  const properties: Record<string, Json> = {};
  for (const [key, schema] of Object.entries(declared)) {
    if (!isObject(schema) || !fitsForm(schema)) continue;
    const value = given[key];
    properties[key] = { ...pick(schema), ...(value === undefined ? {} : { default: value }) };
  }
  return { type: "object", properties };
}

const fitsForm = ({ type, items, oneOf }: Json): boolean => {
  if (type === "array") return isObject(items) && (Array.isArray(items.enum) || Array.isArray(items.anyOf));
  return ["string", "number", "integer", "boolean"].includes(String(type)) || Array.isArray(oneOf);
};

const kept = [
  "type",
  "title",
  "description",
  "enum",
  "enumNames",
  "oneOf",
  "items",
  "format",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "default",
];
const pick = (schema: Json): Json => Object.fromEntries(Object.entries(schema).filter(([key]) => kept.includes(key)));

/** Passes a person's answer to the run. False if the tool does not accept the values; the question stays open. */
export function answer(runs: Runs, run: string, { call, reply, by }: Answer): Promise<boolean> {
  const { action, content } = isObject(reply) ? reply : {};
  const known = action === "accept" || action === "decline" ? action : "cancel";
  return tryAnswer(runs, run, { call, by, reply: { action: known, content } });
}

interface Answer {
  readonly call: string;
  readonly reply: unknown;
  readonly by: string;
}
