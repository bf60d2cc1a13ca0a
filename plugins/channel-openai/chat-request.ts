import type { GenerationOptions, Message, Part, RunRequest, ToolChoice } from "venturi/plugin";
import { z } from "zod";
import { callArguments, imagePart, invalid } from "./content.ts";

const TextContent = z.looseObject({ type: z.literal("text"), text: z.string() });
const Content = z.union([
  z.string(),
  z.array(
    z.discriminatedUnion("type", [
      TextContent,
      z.looseObject({ type: z.literal("image_url"), image_url: z.looseObject({ url: z.string() }) }),
      z.looseObject({ type: z.literal("refusal"), refusal: z.string() }),
    ]),
  ),
]);
const Call = z.looseObject({
  id: z.string(),
  type: z.literal("function").default("function"),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});
const ChatMessage = z.discriminatedUnion("role", [
  z.looseObject({ role: z.enum(["system", "developer"]), content: Content }),
  z.looseObject({ role: z.literal("user"), content: Content }),
  z.looseObject({
    role: z.literal("assistant"),
    content: Content.nullish(),
    tool_calls: z.array(Call).nullish(),
  }),
  z.looseObject({ role: z.literal("tool"), tool_call_id: z.string(), content: Content }),
]);
type ChatMessage = z.output<typeof ChatMessage>;

const Choice = z.union([
  z.enum(["auto", "none", "required"]),
  z.looseObject({ type: z.literal("function"), function: z.looseObject({ name: z.string() }) }),
]);

export const ChatRequest = z.looseObject({
  model: z.string().describe("the agent's name"),
  messages: z.array(ChatMessage).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  tools: z
    .array(
      z.looseObject({
        type: z.literal("function"),
        function: z.looseObject({
          name: z.string(),
          description: z.string().optional(),
          parameters: z.record(z.string(), z.unknown()).optional(),
        }),
      }),
    )
    .nullish()
    .describe("tools of the client: returned as tool calls, never run here"),
  tool_choice: Choice.nullish(),
  response_format: z
    .discriminatedUnion("type", [
      z.looseObject({ type: z.literal("text") }),
      z.looseObject({
        type: z.literal("json_schema"),
        json_schema: z.looseObject({ name: z.string(), schema: z.record(z.string(), z.unknown()) }),
      }),
    ])
    .nullish(),
  n: z.literal(1).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  max_tokens: z.number().int().nullish(),
  max_completion_tokens: z.number().int().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  seed: z.number().int().nullish(),
  reasoning_effort: z.enum(["minimal", "low", "medium", "high"]).nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
});
export type ChatRequest = z.output<typeof ChatRequest>;

export function toRunRequest(body: ChatRequest): RunRequest {
  const format = body.response_format;
  return {
    agent: body.model,
    input: { messages: toMessages(body.messages) },
    options: generationOptions(body),
    ...(body.metadata ? { metadata: body.metadata } : {}),
    ...(body.tools?.length
      ? {
          clientTools: body.tools.map(({ function: tool }) => ({
            name: tool.name,
            description: tool.description ?? "",
            parameters: tool.parameters ?? { type: "object", properties: {} },
          })),
        }
      : {}),
    ...(body.tool_choice ? { toolChoice: toolChoice(body.tool_choice) } : {}),
    ...(format?.type === "json_schema"
      ? { output: { name: format.json_schema.name, schema: format.json_schema.schema } }
      : {}),
  };
}

function toMessages(messages: readonly ChatMessage[]): Message[] {
  const names = new Map<string, string>();
  return messages.map((message) => toMessage(message, names));
}

function toMessage(message: ChatMessage, names: Map<string, string>): Message {
  switch (message.role) {
    case "system":
    case "developer":
      return { role: "system", parts: parts(message.content) };
    case "user":
      return { role: "user", parts: parts(message.content) };
    case "assistant": {
      const calls = (message.tool_calls ?? []).map((call): Part => {
        names.set(call.id, call.function.name);
        const { name, arguments: text } = call.function;
        return { type: "tool_call", call: call.id, name, arguments: callArguments(text) };
      });
      return { role: "assistant", parts: [...parts(message.content ?? ""), ...calls] };
    }
    case "tool": {
      const call = message.tool_call_id;
      const name = names.get(call);
      if (name === undefined) throw invalid(`no tool call before has the id "${call}"`);
      const output = parts(message.content).map((part) => (part.type === "text" ? part.text : ""));
      return { role: "tool", parts: [{ type: "tool_result", call, name, ok: true, output: output.join("") }] };
    }
  }
}

function parts(content: z.output<typeof Content>): Part[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return content.map((item): Part => {
    if (item.type === "text") return { type: "text", text: item.text };
    if (item.type === "refusal") return { type: "text", text: item.refusal };
    return imagePart(item.image_url.url);
  });
}

function generationOptions(body: ChatRequest): GenerationOptions {
  const maxTokens = body.max_completion_tokens ?? body.max_tokens;
  return {
    ...(body.temperature != null ? { temperature: body.temperature } : {}),
    ...(body.top_p != null ? { topP: body.top_p } : {}),
    ...(maxTokens != null ? { maxTokens } : {}),
    ...(body.stop != null ? { stop: typeof body.stop === "string" ? [body.stop] : body.stop } : {}),
    ...(body.seed != null ? { seed: body.seed } : {}),
    ...(body.reasoning_effort != null ? { reasoning: { effort: body.reasoning_effort } } : {}),
  };
}

const toolChoice = (choice: z.output<typeof Choice>): ToolChoice =>
  typeof choice === "string" ? choice : { name: choice.function.name };
