import { efforts } from "venturi/internal";
import type {
  Effort,
  GenerationOptions,
  KnownFields,
  Message,
  NativeRequest,
  OutputFormat,
  RunRequest,
} from "venturi/plugin";
import { nativeOf } from "venturi/plugin/channel";
import { z } from "zod";
import { messagesWire, own, TextBlock, textPart } from "./blocks.ts";
import { InputMessage, toMessages } from "./conversation.ts";
import { Choice, chosen, Tool, toolSpec } from "./tools.ts";

const Format = z.looseObject({ type: z.string(), schema: z.record(z.string(), z.unknown()).optional() });

/** The fields of a message that also determine its token count. */
export const Prompt = z.looseObject({
  model: z.string().describe("the agent's name"),
  messages: z.array(InputMessage),
  system: z.union([z.string(), z.array(TextBlock)]).nullish(),
  tools: z.array(Tool).nullish().describe("tools of the client: returned as tool_use, never run here"),
  tool_choice: Choice.nullish(),
  thinking: z.looseObject({ type: z.string(), budget_tokens: z.number().int().optional() }).nullish(),
  output_config: z.looseObject({ effort: z.string().nullish(), format: Format.nullish() }).nullish(),
  output_format: Format.nullish(),
});

export const MessagesRequest = Prompt.extend({
  max_tokens: z.number().int().positive(),
  stream: z.boolean().nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  stop_sequences: z.array(z.string()).nullish(),
  metadata: z.looseObject({}).nullish(),
  thread: z
    .union([
      z.looseObject({ type: z.literal("create") }),
      z.looseObject({ type: z.literal("continue"), previous_message_id: z.string() }),
    ])
    .nullish()
    .describe("a conversation that is held here: `continue` sends only what is new"),
});
export type MessagesRequest = z.output<typeof MessagesRequest>;
export type Prompt = z.output<typeof Prompt>;

export interface Around {
  /** The client's `anthropic-beta`, for a provider of the same wire. */
  readonly beta?: string | undefined;
  /** Names of calls that earlier messages of the thread left to the client, by id. */
  readonly names?: Map<string, string>;
  /** The exact arguments of calls as the client wrote them, by path in the body. */
  readonly exact?: ReadonlyMap<string, string>;
}

const carried: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "system",
  "tools",
  "tool_choice",
  "max_tokens",
  "stream",
  "temperature",
  "top_p",
  "stop_sequences",
  "thread",
]);

export function toRunRequest(body: Prompt & Partial<MessagesRequest>, around: Around = {}): RunRequest {
  const native = nativeRequest(body, around.beta);
  const output = outputOf(body);
  return {
    agent: body.model,
    input: { messages: [...systemOf(body.system), ...toMessages(body.messages, around)] },
    options: generationOptions(body),
    ...(body.metadata ? { metadata: body.metadata } : {}),
    clientTools: (body.tools ?? []).map(toolSpec),
    ...chosen(body.tool_choice),
    ...(output === undefined ? {} : { output }),
    ...(native === undefined ? {} : { native }),
  };
}

function systemOf(system: Prompt["system"]): Message[] {
  if (system == null || system.length === 0) return [];
  const parts = typeof system === "string" ? [{ type: "text" as const, text: system }] : system.map(textPart);
  return [{ role: "system", parts }];
}

function nativeRequest(body: Prompt & Partial<MessagesRequest>, beta: string | undefined): NativeRequest | undefined {
  const { native } = nativeOf(messagesWire, body, knownFields(body));
  const headers = beta ? { headers: { "anthropic-beta": beta } } : {};
  if (native !== undefined) return { ...native, ...headers };
  return beta ? { wire: messagesWire, fields: {}, ...headers } : undefined;
}

/** Fields that are translated for other wires, depending on their contents: a token budget, an effort, a schema. */
function knownFields(body: Prompt): KnownFields {
  const translated = new Set(["metadata"]);
  const { thinking, output_config: config } = body;
  const effort = effortOf(config?.effort);
  const thinks = thinking?.type === "adaptive" ? effort !== undefined : thinking?.budget_tokens !== undefined;
  if (thinks || thinking?.type === "disabled") translated.add("thinking");
  const says = config == null ? [] : Object.keys(config).filter((key) => config[key] != null);
  const isTranslated = says.every((key) =>
    key === "effort" ? effort !== undefined : key === "format" && schemaOf(body) !== undefined,
  );
  if (isTranslated) translated.add("output_config");
  if (body.output_format?.schema !== undefined) translated.add("output_format");
  return { carried, translated, defaults: { service_tier: "auto" } };
}

const schemaOf = ({ output_config, output_format }: Prompt) => (output_config?.format ?? output_format)?.schema;

function outputOf(body: Prompt): OutputFormat | undefined {
  const schema = schemaOf(body);
  return schema === undefined ? undefined : { name: "answer", schema, ...own({}, { carried }) };
}

const effortOf = (effort: string | null | undefined): Effort | undefined => efforts.find((known) => known === effort);

function generationOptions(body: Prompt & Partial<MessagesRequest>): GenerationOptions {
  const effort = body.thinking?.type === "disabled" ? undefined : effortOf(body.output_config?.effort);
  const budget = body.thinking?.budget_tokens;
  const reasoning = { ...(effort === undefined ? {} : { effort }), ...(budget === undefined ? {} : { budget }) };
  return {
    ...(body.max_tokens == null ? {} : { maxTokens: body.max_tokens }),
    ...(body.temperature == null ? {} : { temperature: body.temperature }),
    ...(body.top_p == null ? {} : { topP: body.top_p }),
    ...(body.stop_sequences == null ? {} : { stop: body.stop_sequences }),
    ...(Object.keys(reasoning).length === 0 ? {} : { reasoning }),
  };
}
