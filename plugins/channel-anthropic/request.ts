import {
  type FilePart,
  type GenerationOptions,
  type Message,
  type Part,
  type RunRequest,
  type ToolChoice,
  VenturiError,
} from "venturi/plugin";
import { z } from "zod";

const Text = z.looseObject({ type: z.literal("text"), text: z.string() });
const Image = z.looseObject({
  type: z.literal("image"),
  source: z.discriminatedUnion("type", [
    z.looseObject({ type: z.literal("base64"), media_type: z.string(), data: z.string() }),
    z.looseObject({ type: z.literal("url"), url: z.string().regex(/^https?:\/\//) }),
  ]),
});
const Document = z.looseObject({
  type: z.literal("document"),
  source: z.discriminatedUnion("type", [
    z.looseObject({ type: z.literal("base64"), media_type: z.string(), data: z.string() }),
    z.looseObject({ type: z.literal("text"), media_type: z.string().default("text/plain"), data: z.string() }),
    z.looseObject({ type: z.literal("url"), url: z.string().regex(/^https?:\/\//) }),
  ]),
  title: z.string().nullish(),
});
const Block = z.discriminatedUnion("type", [
  Text,
  Image,
  Document,
  z.looseObject({
    type: z.literal("tool_use"),
    id: z.string(),
    name: z.string(),
    input: z.record(z.string(), z.unknown()),
  }),
  z.looseObject({
    type: z.literal("tool_result"),
    tool_use_id: z.string(),
    content: z.union([z.string(), z.array(z.discriminatedUnion("type", [Text, Image, Document]))]).optional(),
    is_error: z.boolean().optional(),
  }),
  z.looseObject({ type: z.literal("thinking"), thinking: z.string(), signature: z.string() }),
  z.looseObject({ type: z.literal("redacted_thinking"), data: z.string() }),
]);
type Block = z.output<typeof Block>;

const Choice = z.discriminatedUnion("type", [
  z.looseObject({ type: z.enum(["auto", "any", "none"]) }),
  z.looseObject({ type: z.literal("tool"), name: z.string() }),
]);

export const MessagesRequest = z.looseObject({
  model: z.string().describe("the agent's name"),
  max_tokens: z.number().int().positive(),
  messages: z
    .array(
      z.looseObject({ role: z.enum(["user", "assistant", "system"]), content: z.union([z.string(), z.array(Block)]) }),
    )
    .min(1),
  system: z.union([z.string(), z.array(Text)]).optional(),
  stream: z.boolean().optional(),
  tools: z
    .array(
      z.looseObject({
        name: z.string(),
        description: z.string().optional(),
        input_schema: z.record(z.string(), z.unknown()),
      }),
    )
    .optional()
    .describe("tools of the client: returned as tool_use, never run here"),
  tool_choice: Choice.optional(),
  temperature: z.number().optional(),
  top_p: z.number().optional(),
  stop_sequences: z.array(z.string()).optional(),
  thinking: z.looseObject({ type: z.string(), budget_tokens: z.number().int().optional() }).optional(),
});
export type MessagesRequest = z.output<typeof MessagesRequest>;

export function toRunRequest(body: MessagesRequest): RunRequest {
  const names = new Map<string, string>();
  const system = typeof body.system === "string" ? body.system : body.system?.map((block) => block.text).join("\n\n");
  const messages: Message[] = system ? [{ role: "system", parts: [{ type: "text", text: system }] }] : [];
  for (const { role, content } of body.messages) {
    const blocks: readonly Block[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
    const results = blocks.filter((block) => block.type === "tool_result").map((block) => toPart(block, names));
    const rest = blocks.filter((block) => block.type !== "tool_result").map((block) => toPart(block, names));
    if (results.length > 0) messages.push({ role: "tool", parts: results });
    if (rest.length > 0) messages.push({ role, parts: rest });
  }
  return {
    agent: body.model,
    input: { messages },
    options: generationOptions(body),
    ...(body.tools?.length
      ? {
          clientTools: body.tools.map((tool) => ({
            name: tool.name,
            description: tool.description ?? "",
            parameters: tool.input_schema,
          })),
        }
      : {}),
    ...(body.tool_choice ? { toolChoice: toolChoice(body.tool_choice) } : {}),
  };
}

function toPart(block: Block, names: Map<string, string>): Part {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return image(block);
    case "document":
      return document(block);
    case "tool_use":
      names.set(block.id, block.name);
      return { type: "tool_call", call: block.id, name: block.name, arguments: block.input };
    case "tool_result": {
      const name = names.get(block.tool_use_id);
      if (name === undefined) {
        throw new VenturiError(
          "request.parse",
          "invalid_input",
          `no tool_use before has the id "${block.tool_use_id}"`,
        );
      }
      const content =
        typeof block.content === "string" ? [{ type: "text" as const, text: block.content }] : (block.content ?? []);
      const output = content.map((item) => (item.type === "text" ? item.text : "")).join("");
      const images = content.filter((item) => item.type === "image").map(image);
      const files = content.filter((item) => item.type === "document").map(document);
      const result = {
        type: "tool_result" as const,
        call: block.tool_use_id,
        name,
        ok: block.is_error !== true,
        output,
      };
      return {
        ...result,
        ...(images.length > 0 ? { images } : {}),
        ...(files.length > 0 ? { files } : {}),
      };
    }
    case "thinking":
      return { type: "reasoning", text: block.thinking, ...(block.signature ? { signature: block.signature } : {}) };
    case "redacted_thinking":
      return { type: "reasoning", text: "", encrypted: block.data };
  }
}

const image = ({ source }: z.output<typeof Image>) =>
  source.type === "base64"
    ? { type: "image" as const, mediaType: source.media_type, data: source.data }
    : { type: "image" as const, mediaType: "image/*", url: source.url };

function document({ source, title }: z.output<typeof Document>): FilePart {
  const name = title ? { name: title } : {};
  if (source.type === "url") return { type: "file", mediaType: "application/pdf", url: source.url, ...name };
  const data = source.type === "text" ? Buffer.from(source.data).toString("base64") : source.data;
  return { type: "file", mediaType: source.media_type, data, ...name };
}

function generationOptions(body: MessagesRequest): GenerationOptions {
  return {
    maxTokens: body.max_tokens,
    ...(body.temperature === undefined ? {} : { temperature: body.temperature }),
    ...(body.top_p === undefined ? {} : { topP: body.top_p }),
    ...(body.stop_sequences === undefined ? {} : { stop: body.stop_sequences }),
    ...(body.thinking?.budget_tokens === undefined ? {} : { reasoning: { budget: body.thinking.budget_tokens } }),
  };
}

function toolChoice(choice: z.output<typeof Choice>): ToolChoice {
  if (choice.type === "tool") return { name: choice.name };
  return choice.type === "any" ? "required" : choice.type;
}
