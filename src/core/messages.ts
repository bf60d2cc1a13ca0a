import { z } from "zod";
import { Native } from "./native.ts";

const native = Native.exactOptional();

/** What a conversation is made of. Parts keep the order in which the model produced them. */
export const TextPart = z.strictObject({
  type: z.literal("text"),
  text: z.string(),
  /** Gemini signs text parts too; goes back on the same part, byte for byte. */
  signature: z.string().exactOptional(),
  native,
});
export type TextPart = z.output<typeof TextPart>;

/** Exactly one of `data`, `url` and `hash`. Providers never see a `hash`: it is resolved before they are asked. */
const content = {
  mediaType: z.string(),
  /** Base64. */
  data: z.string().exactOptional(),
  /** For the provider to open; never opened here. */
  url: z.string().exactOptional(),
  /** SHA-256 of bytes that the journal keeps beside the events, and their number. */
  hash: z.string().exactOptional(),
  size: z.number().int().exactOptional(),
  native,
};

export const ImagePart = z.strictObject({ type: z.literal("image"), ...content });
export type ImagePart = z.output<typeof ImagePart>;

/** A document, audio or any other file that goes in whole. `mediaType` says what it is: `application/pdf`, `audio/wav`. */
export const FilePart = z.strictObject({ type: z.literal("file"), ...content, name: z.string().exactOptional() });
export type FilePart = z.output<typeof FilePart>;

export const ReasoningPart = z.strictObject({
  type: z.literal("reasoning"),
  text: z.string(),
  /** The vendor's proof that this reasoning is its own; goes back byte for byte. */
  signature: z.string().exactOptional(),
  /** Reasoning that only the vendor can read (redacted thinking, encrypted_content); goes back byte for byte. */
  encrypted: z.string().exactOptional(),
  /** The vendor's id of the item, where it wants that back. */
  id: z.string().exactOptional(),
});
export type ReasoningPart = z.output<typeof ReasoningPart>;

export const ToolCallPart = z.strictObject({
  type: z.literal("tool_call"),
  call: z.string(),
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  /** What the model wrote instead of a JSON object; goes back to it, so that it can see its mistake. `arguments` is then empty. */
  raw: z.string().exactOptional(),
  signature: z.string().exactOptional(),
  native,
});
export type ToolCallPart = z.output<typeof ToolCallPart>;

export const ToolResultPart = z.strictObject({
  type: z.literal("tool_result"),
  call: z.string(),
  name: z.string(),
  ok: z.boolean(),
  /** What the model is told. */
  output: z.string(),
  images: z.array(ImagePart).exactOptional(),
  files: z.array(FilePart).exactOptional(),
  native,
});
export type ToolResultPart = z.output<typeof ToolResultPart>;

/** A part only one wire understands (a server-side tool's block, a compaction item), kept verbatim to be sent back on it. */
export const OpaquePart = z.strictObject({ type: z.literal("opaque"), wire: z.string(), data: z.unknown() });
export type OpaquePart = z.output<typeof OpaquePart>;

export const Part = z.discriminatedUnion("type", [
  TextPart,
  ImagePart,
  FilePart,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
  OpaquePart,
]);
export type Part = z.output<typeof Part>;

export const Message = z.strictObject({
  role: z.enum(["system", "user", "assistant", "tool"]),
  parts: z.array(Part),
  /** Whose model said it, as the config names the provider: its signatures go back to that provider alone. */
  provider: z.string().exactOptional(),
  native,
});
export type Message = z.output<typeof Message>;

export const textMessage = (role: Message["role"], text: string): Message => ({
  role,
  parts: [{ type: "text", text }],
});

/** The text of a message, without reasoning and tool traffic. */
export const textOf = (message: Message): string =>
  message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");

/** Whether a file of this type is text, so that it can be told as text where files are not taken. */
export const isText = (mediaType: string): boolean =>
  /^text\/|^application\/(json|xml|yaml|x-yaml|javascript|x-ndjson|toml)\b|\+(json|xml)\b/.test(mediaType);

/** What a text file says; undefined for one that is no text or is not at hand. */
export function fileText({ mediaType, data }: FilePart): string | undefined {
  return data !== undefined && isText(mediaType) ? Buffer.from(data, "base64").toString("utf8") : undefined;
}

/** A text file as a part of the prompt, for wires that take no such files: named, so that the model can speak of it. */
export function fileAsText(file: FilePart): string | undefined {
  const text = fileText(file);
  return text === undefined ? undefined : `<file name="${file.name ?? file.mediaType}">\n${text}\n</file>`;
}

/** A call's arguments for a wire that has them as JSON text: broken ones as the model wrote them. */
export const argumentsText = (part: ToolCallPart): string => part.raw ?? JSON.stringify(part.arguments);

/** A call's arguments for a wire that has them as an object: broken ones as text in one. */
export const argumentsObject = (part: ToolCallPart): Readonly<Record<string, unknown>> =>
  part.raw === undefined ? part.arguments : { invalid_json: part.raw };
