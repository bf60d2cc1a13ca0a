import { textUnlessSame } from "venturi/internal";
import { type Message, type Part, type ToolResultPart, VenturiError } from "venturi/plugin";
import { nativeOf } from "venturi/plugin/channel";
import { z } from "zod";
import {
  DocumentBlock,
  documentPart,
  ImageBlock,
  imagePart,
  messagesWire,
  opaquePart,
  own,
  TextBlock,
  textPart,
} from "./blocks.ts";

const ToolUse = z.looseObject({
  type: z.literal("tool_use"),
  id: z.string(),
  name: z.string(),
  input: z.record(z.string(), z.unknown()),
});
const ToolResult = z.looseObject({
  type: z.literal("tool_result"),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).nullish(),
  is_error: z.boolean().nullish(),
});
const Thinking = z.looseObject({ type: z.literal("thinking"), thinking: z.string(), signature: z.string().nullish() });
const Redacted = z.looseObject({ type: z.literal("redacted_thinking"), data: z.string() });

const known = [TextBlock, ImageBlock, DocumentBlock, ToolUse, ToolResult, Thinking, Redacted] as const;
const knownTypes = new Set<string>(known.map((schema) => schema.shape.type.value));
/** A vendor block such as `server_tool_use`: passed on to a provider of this wire. */
const Other = z.looseObject({
  type: z.string().refine((type) => !knownTypes.has(type), { abort: true, error: "this block's own fields" }),
});

export const Block = z.union([...known, Other]);
type Block = z.output<typeof Block>;

export const InputMessage = z.looseObject({
  role: z.enum(["user", "assistant", "system"]),
  content: z.union([z.string(), z.array(Block)]),
});
type InputMessage = z.output<typeof InputMessage>;

const messageFields = { carried: new Set(["role", "content"]) };
const useFields = { carried: new Set(["type", "id", "name", "input"]) };
const resultFields = { carried: new Set(["type", "tool_use_id", "content", "is_error"]) };
const fineFields = { carried: new Set(["type", "tool_use_id", "content"]), translated: new Set(["is_error"]) };

/** Context that the messages themselves do not contain. */
interface Known {
  /** Calls that earlier messages of the thread left to the client, by id. */
  readonly names?: Map<string, string>;
  /** The exact arguments of calls as the client wrote them, by path in the body. */
  readonly exact?: ReadonlyMap<string, string>;
}

export function toMessages(messages: readonly InputMessage[], { names = new Map(), exact }: Known = {}): Message[] {
  return messages.flatMap((message, index) => {
    const textOf = (block: number) => exact?.get(`messages/${index}/content/${block}/input`);
    return toMessage(message, { names, textOf });
  });
}

interface Context {
  readonly names: Map<string, string>;
  /** The exact text of a block's input. */
  readonly textOf: (block: number) => string | undefined;
}

/** Results become a separate message before the rest, which is the order the API requires. */
function toMessage(message: InputMessage, { names, textOf }: Context): Message[] {
  const { role, content } = message;
  const native = nativeOf(messagesWire, message, messageFields);
  if (typeof content === "string") {
    // The vendor should refuse blank text; marked as the client's own it is not dropped.
    const text: Part =
      content.trim() === "" ? textPart({ type: "text", text: content }) : { type: "text", text: content };
    return [{ role, parts: [text], ...(role === "system" ? inPlace : native) }];
  }
  const parts = content.map((block, index) => {
    const part = toPart(block, names);
    return part.type === "tool_call" ? { ...part, ...textUnlessSame(textOf(index) ?? "", part.arguments) } : part;
  });
  const results = parts.filter((part) => part.type === "tool_result");
  const rest = parts.filter((part) => part.type !== "tool_result");
  return [
    ...(results.length > 0 ? [{ role: "tool" as const, parts: results, ...native }] : []),
    ...(rest.length > 0 ? [{ role, parts: rest, ...(role === "system" ? inPlace : native) }] : []),
  ];
}

/** Marks a system message within the conversation rather than before it. */
const inPlace = { native: { wire: messagesWire, fields: { role: "system" }, translated: ["role"] } };

function toPart(block: Block, names: Map<string, string>): Part {
  if (is(block, TextBlock)) return textPart(block);
  if (is(block, ImageBlock)) return imagePart(block);
  if (is(block, DocumentBlock)) return documentPart(block);
  if (is(block, ToolUse)) {
    names.set(block.id, block.name);
    return { type: "tool_call", call: block.id, name: block.name, arguments: block.input, ...own(block, useFields) };
  }
  if (is(block, ToolResult)) return resultPart(block, names);
  if (is(block, Thinking)) {
    return { type: "reasoning", text: block.thinking, ...(block.signature ? { signature: block.signature } : {}) };
  }
  return is(block, Redacted) ? { type: "reasoning", text: "", encrypted: block.data } : opaquePart(block);
}

function resultPart(block: z.output<typeof ToolResult>, names: ReadonlyMap<string, string>): ToolResultPart {
  const name = names.get(block.tool_use_id);
  if (name === undefined) {
    const message = `no tool_use before has the id "${block.tool_use_id}"`;
    throw new VenturiError("request.parse", "invalid_input", message);
  }
  // `false` is the default, but is sent again if the client wrote it.
  const fine = block.is_error === false;
  const { native } = own(block, fine ? fineFields : resultFields);
  const ok = block.is_error !== true;
  const result = { type: "tool_result" as const, call: block.tool_use_id, name, ok };
  if (block.content == null || typeof block.content === "string") {
    return { ...result, output: block.content ?? "", native };
  }
  const content = block.content.map(contentPart);
  const images = content.filter((part) => part.type === "image");
  const files = content.filter((part) => part.type === "file");
  const whole = !content.some((part) => part.type === "opaque");
  const fields = whole && isUsual(block.content) ? native.fields : { ...native.fields, content: block.content };
  const translated = [...(native.translated ?? []), ...(whole ? ["content"] : [])];
  return {
    ...result,
    output: content.map((part) => (part.type === "text" ? part.text : "")).join(""),
    ...(images.length > 0 ? { images: images.map(bare) } : {}),
    ...(files.length > 0 ? { files: files.map(bare) } : {}),
    native: { ...native, fields, translated },
  };
}

function contentPart(block: { type: string }): Part {
  const parsed = z.union([TextBlock, ImageBlock, DocumentBlock]).safeParse(block);
  if (!parsed.success) {
    if (!knownTypes.has(block.type)) return opaquePart(block);
    const [issue] = parsed.error.issues;
    const message = `a tool_result has a ${block.type} block that cannot be read: ${issue?.message}`;
    throw new VenturiError("request.parse", "invalid_input", message);
  }
  const content = parsed.data;
  if (content.type === "text") return textPart(content as z.output<typeof TextBlock>); // Discriminated by type.
  return content.type === "image"
    ? imagePart(content as z.output<typeof ImageBlock>)
    : documentPart(content as z.output<typeof DocumentBlock>);
}

/** Whether a provider of this wire would encode the same list: text, then images, then documents, nothing else. */
function isUsual(content: readonly Record<string, unknown>[]): boolean {
  const order = ["text", "image", "document"];
  const places = content.map(({ type }) => order.indexOf(String(type)));
  const sorted = places.every((place, index) => place >= 0 && place >= (places[index - 1] ?? 0));
  const bare = content.every((block) => Object.keys(block).length === 2);
  return sorted && bare && places.filter((place) => place === 0).length <= 1 && places.some((place) => place > 0);
}

/** The result's own content already holds the client's original. */
function bare<P extends { native?: unknown }>(part: P): Omit<P, "native"> {
  const { native: _, ...rest } = part;
  return rest;
}

const is = <S extends (typeof known)[number]>(block: Block, schema: S): block is z.output<S> & Block =>
  block.type === schema.shape.type.value;
