import type { GenerationOptions, KnownFields, Message, Native, OutputFormat, RunRequest } from "venturi/plugin";
import { nativeOf } from "venturi/plugin/channel";
import { asRecord } from "venturi/plugin/provider";
import { z } from "zod";
import { effortOf } from "./content.ts";
import { responsesWire } from "./responses-content.ts";
import { Item, toMessages } from "./responses-items.ts";
import { Choice, chosen, Tool, toolSpecs } from "./responses-tools.ts";

const Format = z.union([
  z.looseObject({ type: z.enum(["text", "json_object"]) }),
  z.looseObject({ type: z.literal("json_schema"), name: z.string(), schema: z.record(z.string(), z.unknown()) }),
  z.looseObject({
    type: z.string().refine((type) => !["text", "json_object", "json_schema"].includes(type), { abort: true }),
  }),
]);

export const ResponsesRequest = z.looseObject({
  model: z.string().describe("the agent's name"),
  input: z.union([z.string(), z.array(Item)]).optional(),
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish(),
  conversation: z.union([z.string(), z.looseObject({ id: z.string() })]).nullish(),
  background: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  store: z.boolean().nullish(),
  tools: z.array(Tool).nullish().describe("tools of the client: returned as calls, never run here"),
  tool_choice: Choice.nullish(),
  text: z.looseObject({ format: Format.nullish() }).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  max_output_tokens: z.number().int().nullish(),
  reasoning: z.looseObject({ effort: z.string().nullish() }).nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
});
export type ResponsesRequest = z.output<typeof ResponsesRequest>;

/** Fields represented in the run, or only relevant to this service's storage and connection. */
const carried: ReadonlySet<string> = new Set([
  "model",
  "input",
  "instructions",
  "previous_response_id",
  "conversation",
  "background",
  "stream",
  "stream_options",
  "store",
  "tools",
  "tool_choice",
  "temperature",
  "top_p",
  "max_output_tokens",
]);

/** The API's defaults. */
const defaults = { parallel_tool_calls: true, service_tier: "auto", truncation: "disabled", top_logprobs: 0 };

export const inputItems = ({ input }: ResponsesRequest): Item[] =>
  typeof input === "string" ? [{ role: "user", content: input }] : (input ?? []);

/** `items`: the input with references resolved. */
export function toRunRequest(body: ResponsesRequest, items: readonly Item[]): RunRequest {
  const tools = toolSpecs(body.tools ?? []);
  return {
    agent: body.model,
    input: { messages: toMessages(items) },
    options: generationOptions(body),
    ...(body.instructions ? { instructions: instructionsOf(body.instructions) } : {}),
    ...(body.metadata ? { metadata: body.metadata } : {}),
    clientTools: tools,
    ...chosen(body.tool_choice),
    ...outputOf(body.text?.format),
    ...nativeOf(responsesWire, body, known(body)),
    channel: { responses: echoOf(body) },
  };
}

/** Sent as `instructions` on this wire, and as a system message on others. */
const instructionsOf = (text: string): Message => ({
  role: "system",
  parts: [{ type: "text", text }],
  native: { wire: responsesWire, fields: { type: "instructions" }, translated: ["type"] },
});

/** Request fields that a response echoes and the run does not otherwise keep in this form. */
function echoOf(body: ResponsesRequest): Record<string, unknown> {
  const { previous_response_id, conversation, background, store, tool_choice } = body;
  const { temperature, top_p, max_output_tokens } = body;
  const echo = {
    previous_response_id,
    conversation,
    background,
    store,
    tool_choice,
    temperature,
    top_p,
    max_output_tokens,
  };
  return Object.fromEntries(Object.entries(echo).filter(([, value]) => value != null));
}

/** Only the format of `text` and the effort of `reasoning` are translated; the rest is native to the wire. */
function known({ text, reasoning, include }: ResponsesRequest): KnownFields {
  const translated = new Set(["metadata", "prompt_cache_key"]);
  const { format, verbosity, ...styles } = text ?? {};
  const formatKnown = format == null || ["text", "json_object", "json_schema"].includes(format.type);
  const plainStyle = verbosity == null || verbosity === "medium";
  if (formatKnown && plainStyle && Object.keys(styles).length === 0) translated.add("text");
  const { effort, summary: _, ...thoughts } = reasoning ?? {};
  const effortKnown = effort == null || effortOf(effort) !== undefined;
  if (effortKnown && Object.keys(thoughts).length === 0) translated.add("reasoning");
  // Reasoning has items of its own, with whatever proof the provider gives.
  if (Array.isArray(include) && include.every((each) => each === "reasoning.encrypted_content"))
    translated.add("include");
  return { carried, translated, defaults };
}

function outputOf(format: z.output<typeof Format> | null | undefined): { output?: OutputFormat } {
  const native: Native = { wire: responsesWire, fields: {} };
  if (format?.type === "json_object") return { output: { name: "answer", native } };
  if (format?.type !== "json_schema") return {};
  const { name, schema } = format as Extract<z.output<typeof Format>, { type: "json_schema" }>;
  const own = nativeOf(responsesWire, format, schemaFields);
  return { output: { name, schema: asRecord(schema), native: own.native ?? native } };
}

const schemaFields = { carried: new Set(["type", "name", "schema"]), defaults: { strict: false } };

function generationOptions(body: ResponsesRequest): GenerationOptions {
  const effort = effortOf(body.reasoning?.effort);
  return {
    ...(body.temperature != null ? { temperature: body.temperature } : {}),
    ...(body.top_p != null ? { topP: body.top_p } : {}),
    ...(body.max_output_tokens != null ? { maxTokens: body.max_output_tokens } : {}),
    ...(effort !== undefined ? { reasoning: { effort } } : {}),
  };
}
