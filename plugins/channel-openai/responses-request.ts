import type { GenerationOptions, Message, Part, PendingCall, RunRequest, ToolChoice } from "venturi/plugin";
import { z } from "zod";
import { audioPart, callArguments, filePart, filePartAt, imagePart, invalid, resultParts } from "./content.ts";

const Parts = z.array(
  z.discriminatedUnion("type", [
    z.looseObject({ type: z.literal("input_text"), text: z.string() }),
    z.looseObject({ type: z.literal("output_text"), text: z.string() }),
    z.looseObject({ type: z.literal("refusal"), refusal: z.string() }),
    z.looseObject({ type: z.literal("input_image"), image_url: z.string() }),
    z.looseObject({
      type: z.literal("input_file"),
      file_data: z.string().nullish(),
      file_url: z.string().nullish(),
      filename: z.string().nullish(),
    }),
    z.looseObject({
      type: z.literal("input_audio"),
      input_audio: z.looseObject({ data: z.string(), format: z.string() }),
    }),
  ]),
);
const Content = z.union([z.string(), Parts]);

const Item = z.union([
  z.looseObject({
    type: z.literal("message").optional(),
    role: z.enum(["system", "developer", "user", "assistant"]),
    content: Content,
  }),
  z.looseObject({ type: z.literal("function_call"), call_id: z.string(), name: z.string(), arguments: z.string() }),
  z.looseObject({
    type: z.literal("function_call_output"),
    call_id: z.string(),
    output: Content,
  }),
  z.looseObject({ type: z.literal("reasoning") }),
]);
type Item = z.output<typeof Item>;

const Choice = z.union([
  z.enum(["auto", "none", "required"]),
  z.looseObject({ type: z.literal("function"), name: z.string() }),
]);

export const ResponsesRequest = z.looseObject({
  model: z.string().describe("the agent's name"),
  input: z.union([z.string(), z.array(Item)]),
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish(),
  stream: z.boolean().nullish(),
  store: z.boolean().nullish(),
  tools: z
    .array(
      z.looseObject({
        type: z.literal("function"),
        name: z.string(),
        description: z.string().nullish(),
        parameters: z.record(z.string(), z.unknown()).nullish(),
      }),
    )
    .nullish()
    .describe("tools of the client: returned as function calls, never run here"),
  tool_choice: Choice.nullish(),
  text: z
    .looseObject({
      format: z
        .discriminatedUnion("type", [
          z.looseObject({ type: z.literal("text") }),
          z.looseObject({
            type: z.literal("json_schema"),
            name: z.string(),
            schema: z.record(z.string(), z.unknown()),
          }),
        ])
        .optional(),
    })
    .nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  max_output_tokens: z.number().int().nullish(),
  reasoning: z.looseObject({ effort: z.enum(["minimal", "low", "medium", "high"]).nullish() }).nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
});
export type ResponsesRequest = z.output<typeof ResponsesRequest>;

/** `left`: the calls that an earlier response left to the client. A session keeps a call only together with its result. */
export function toRunRequest(body: ResponsesRequest, left: readonly PendingCall[]): RunRequest {
  const system: Message[] = body.instructions
    ? [{ role: "system", parts: [{ type: "text", text: body.instructions }] }]
    : [];
  const items: readonly Item[] = typeof body.input === "string" ? [{ role: "user", content: body.input }] : body.input;
  const format = body.text?.format;
  return {
    agent: body.model,
    input: { messages: [...system, ...toMessages([...answered(left, items), ...items])] },
    options: generationOptions(body),
    ...(body.metadata ? { metadata: body.metadata } : {}),
    ...(body.tools?.length
      ? {
          clientTools: body.tools.map((tool) => ({
            name: tool.name,
            description: tool.description ?? "",
            parameters: tool.parameters ?? { type: "object", properties: {} },
          })),
        }
      : {}),
    ...(body.tool_choice ? { toolChoice: toolChoice(body.tool_choice) } : {}),
    ...(format?.type === "json_schema" ? { output: { name: format.name, schema: format.schema } } : {}),
  };
}

function answered(left: readonly PendingCall[], items: readonly Item[]): Item[] {
  const results = new Set(items.map((item) => (item.type === "function_call_output" ? item.call_id : undefined)));
  return left
    .filter(({ call }) => results.has(call))
    .map(({ call, name, arguments: input }) => ({
      type: "function_call",
      call_id: call,
      name,
      arguments: JSON.stringify(input),
    }));
}

/** Items in a row of one role are one message: a call next to the text it came with belongs to the same turn. */
function toMessages(items: readonly Item[]): Message[] {
  const names = new Map<string, string>();
  const messages: Message[] = [];
  const add = (role: Message["role"], parts: readonly Part[]) => {
    const last = messages.at(-1);
    if (last?.role === role && role !== "user") last.parts.push(...parts);
    else messages.push({ role, parts: [...parts] });
  };
  for (const item of items) {
    if ("role" in item && typeof item.role === "string") {
      const { role, content } = item as Extract<Item, { content: unknown }>; // the only item with a role
      add(role === "developer" ? "system" : role, contentParts(content));
    } else if (item.type === "function_call") {
      names.set(item.call_id, item.name);
      const parsed = callArguments(item.arguments) ?? {};
      add("assistant", [{ type: "tool_call", call: item.call_id, name: item.name, arguments: parsed }]);
    } else if (item.type === "function_call_output") {
      const name = names.get(item.call_id);
      if (name === undefined) throw invalid(`no function call before has the id "${item.call_id}"`);
      add("tool", [
        { type: "tool_result", call: item.call_id, name, ok: true, ...resultParts(contentParts(item.output)) },
      ]);
    }
  }
  return messages;
}

function contentParts(content: z.output<typeof Content>): Part[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.map((part): Part => {
    if (part.type === "input_image") return imagePart(part.image_url);
    if (part.type === "input_audio") return audioPart(part.input_audio.data, part.input_audio.format);
    if (part.type === "input_file") {
      if (part.file_data) return filePart(part.file_data, part.filename);
      if (part.file_url) return filePartAt(part.file_url, part.filename);
      throw invalid("an input_file has file_data or file_url");
    }
    return { type: "text", text: part.type === "refusal" ? part.refusal : part.text };
  });
}

function generationOptions(body: ResponsesRequest): GenerationOptions {
  return {
    ...(body.temperature != null ? { temperature: body.temperature } : {}),
    ...(body.top_p != null ? { topP: body.top_p } : {}),
    ...(body.max_output_tokens != null ? { maxTokens: body.max_output_tokens } : {}),
    ...(body.reasoning?.effort ? { reasoning: { effort: body.reasoning.effort } } : {}),
  };
}

const toolChoice = (choice: z.output<typeof Choice>): ToolChoice =>
  typeof choice === "string" ? choice : { name: choice.name };
