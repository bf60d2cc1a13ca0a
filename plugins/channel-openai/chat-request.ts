import type { GenerationOptions, KnownFields, Native, OutputFormat, RunRequest } from "venturi/plugin";
import { nativeOf } from "venturi/plugin/channel";
import { z } from "zod";
import { chatWire } from "./chat-content.ts";
import { ChatMessage, toMessages } from "./chat-messages.ts";
import { Choice, chosen, LegacyFunctions, legacySpecs, Tools, toolSpecs } from "./chat-tools.ts";
import { effortOf } from "./content.ts";

const Format = z.union([
  z.looseObject({ type: z.enum(["text", "json_object"]) }),
  z.looseObject({
    type: z.literal("json_schema"),
    json_schema: z.looseObject({ name: z.string(), schema: z.record(z.string(), z.unknown()).optional() }),
  }),
  z.looseObject({
    type: z.string().refine((type) => !["text", "json_object", "json_schema"].includes(type), { abort: true }),
  }),
]);

export const ChatRequest = z.looseObject({
  model: z.string().describe("the agent's name"),
  messages: z.array(ChatMessage).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  tools: Tools.nullish().describe("tools of the client: returned as tool calls, never run here"),
  tool_choice: Choice.nullish(),
  functions: LegacyFunctions.nullish().describe("the old form of tools"),
  function_call: z.union([z.enum(["auto", "none"]), z.looseObject({ name: z.string() })]).nullish(),
  response_format: Format.nullish(),
  n: z.number().int().positive().nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  max_tokens: z.number().int().nullish(),
  max_completion_tokens: z.number().int().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  seed: z.number().int().nullish(),
  reasoning_effort: z.string().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
});
export type ChatRequest = z.output<typeof ChatRequest>;

/** Fields represented in the run, or only relevant to this connection. */
const carried: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "stream",
  "stream_options",
  "tools",
  "tool_choice",
  "functions",
  "function_call",
  "n",
  "temperature",
  "top_p",
  "max_tokens",
  "max_completion_tokens",
  "seed",
]);
const translated: ReadonlySet<string> = new Set(["stop", "metadata", "prompt_cache_key"]);

/** The API's defaults. */
const defaults = {
  frequency_penalty: 0,
  presence_penalty: 0,
  logprobs: false,
  top_logprobs: 0,
  parallel_tool_calls: true,
  service_tier: "auto",
  store: false,
  verbosity: "medium",
};

function known({ response_format, reasoning_effort }: ChatRequest): KnownFields {
  const also = new Set(translated);
  if (response_format?.type === "text") also.add("response_format");
  if (effortOf(reasoning_effort) !== undefined) also.add("reasoning_effort");
  return { carried, defaults, translated: also };
}

/** Whether the client uses the legacy `functions` and expects such an answer. */
export const isLegacy = (body: ChatRequest): boolean => body.functions != null && body.tools == null;

export function toRunRequest(body: ChatRequest): RunRequest {
  const format = outputOf(body.response_format);
  const legacyChoice = typeof body.function_call === "object" && body.function_call !== null;
  const choice =
    body.tool_choice ?? (legacyChoice ? undefined : (body.function_call as "auto" | "none" | null | undefined));
  const tools = [...toolSpecs(body.tools ?? []), ...legacySpecs(body.functions ?? [])];
  return {
    agent: body.model,
    input: { messages: toMessages(body.messages) },
    options: generationOptions(body),
    ...(body.metadata ? { metadata: body.metadata } : {}),
    clientTools: tools,
    ...(legacyChoice ? { toolChoice: { name: (body.function_call as { name: string }).name } } : chosen(choice)),
    ...format,
    ...nativeOf(chatWire, format.output === undefined ? body : { ...body, response_format: undefined }, known(body)),
    ...((body.n ?? 1) > 1 ? { unsent: ["n"] } : {}),
  };
}

/** Unknown formats, and those that equal the default, are kept for the same wire. */
function outputOf(format: ChatRequest["response_format"]): { output?: OutputFormat } {
  if (format == null) return {};
  const native: Native = { wire: chatWire, fields: {} };
  if (format.type === "json_object") return { output: { name: "answer", native } };
  if (!isSchema(format) || format.json_schema.schema === undefined) return {};
  const { name, schema } = format.json_schema;
  const own = nativeOf(chatWire, format.json_schema, schemaFields);
  return { output: { name, schema, native: own.native ?? native } };
}

type SchemaFormat = Extract<z.output<typeof Format>, { type: "json_schema" }>;
const isSchema = (format: { type: string }): format is SchemaFormat => format.type === "json_schema";

const schemaFields = { carried: new Set(["name", "schema"]), at: "json_schema.", defaults: { strict: false } };

function generationOptions(body: ChatRequest): GenerationOptions {
  const maxTokens = body.max_completion_tokens ?? body.max_tokens;
  const effort = effortOf(body.reasoning_effort);
  return {
    ...(body.temperature != null ? { temperature: body.temperature } : {}),
    ...(body.top_p != null ? { topP: body.top_p } : {}),
    ...(maxTokens != null ? { maxTokens } : {}),
    ...(body.stop != null ? { stop: typeof body.stop === "string" ? [body.stop] : body.stop } : {}),
    ...(body.seed != null ? { seed: body.seed } : {}),
    ...(effort !== undefined ? { reasoning: { effort } } : {}),
  };
}
