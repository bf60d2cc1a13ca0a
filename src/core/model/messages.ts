import { z } from "zod";
import { ExactJson } from "../values/exact-json.ts";
import { Native } from "./native.ts";

const native = Native.exactOptional();

/** Parts of a conversation, in the order the model produced them. */
export const TextPart = z.strictObject({
  type: z.literal("text"),
  text: z.string(),
  /** For a large text: SHA-256 and size in bytes of the blob with the complete text; `text` is its beginning. */
  hash: z.string().exactOptional(),
  size: z.number().int().exactOptional(),
  /** Gemini signs text parts too; sent back on the same part, byte for byte. */
  signature: z.string().exactOptional(),
  native,
});
export type TextPart = z.output<typeof TextPart>;

/** Exactly one of `data`, `url` and `hash`. Providers never see a `hash`: it is resolved before the request. */
const content = {
  mediaType: z.string(),
  /** Base64. */
  data: z.string().exactOptional(),
  /** Fetched by the provider, never by us. */
  url: z.string().exactOptional(),
  /** SHA-256 and size of a blob in the journal. */
  hash: z.string().exactOptional(),
  size: z.number().int().exactOptional(),
  native,
};

export const ImagePart = z.strictObject({ type: z.literal("image"), ...content });
export type ImagePart = z.output<typeof ImagePart>;

/** A document, audio or other file sent as a whole; `mediaType` tells which: `application/pdf`, `audio/wav`. */
export const FilePart = z.strictObject({ type: z.literal("file"), ...content, name: z.string().exactOptional() });
export type FilePart = z.output<typeof FilePart>;

export const ReasoningPart = z.strictObject({
  type: z.literal("reasoning"),
  text: z.string(),
  /** The vendor's signature over this reasoning; sent back byte for byte. */
  signature: z.string().exactOptional(),
  /** Reasoning that only the vendor can read (redacted thinking, encrypted_content); sent back byte for byte. */
  encrypted: z.string().exactOptional(),
  /** The vendor's item id, where it must be sent back. */
  id: z.string().exactOptional(),
});
export type ReasoningPart = z.output<typeof ReasoningPart>;

export const ToolCallPart = z.strictObject({
  type: z.literal("tool_call"),
  call: z.string(),
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  /** What the model wrote in place of a JSON object; sent back so that it can correct itself. `arguments` is then empty. */
  raw: z.string().exactOptional(),
  /** The arguments' JSON as the model wrote it, if encoding `arguments` would change it: `1.0`, long integers, spaces. */
  text: z.string().exactOptional(),
  signature: z.string().exactOptional(),
  native,
});
export type ToolCallPart = z.output<typeof ToolCallPart>;

export const ToolResultPart = z.strictObject({
  type: z.literal("tool_result"),
  call: z.string(),
  name: z.string(),
  ok: z.boolean(),
  /** The text for the model. */
  output: z.string(),
  /** For a large output sent by a client, as for a large text; `output` is its beginning. */
  hash: z.string().exactOptional(),
  size: z.number().int().exactOptional(),
  images: z.array(ImagePart).exactOptional(),
  files: z.array(FilePart).exactOptional(),
  native,
});
export type ToolResultPart = z.output<typeof ToolResultPart>;

/** A part that only one wire understands (a server-side tool's block, a compaction item), kept verbatim and sent back on it. */
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
  /** Provider that produced it, by its config name. Signatures are sent back to that provider only. */
  provider: z.string().exactOptional(),
  native,
});
export type Message = z.output<typeof Message>;

export const textMessage = (role: Message["role"], text: string): Message => ({
  role,
  parts: [{ type: "text", text }],
});

/** The text of a message, without reasoning, tool calls and results. */
export const textOf = (message: Message): string =>
  message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");

/** Whether a file of this type can be sent as text where files are not supported. */
export const isText = (mediaType: string): boolean =>
  /^text\/|^application\/(json|xml|yaml|x-yaml|javascript|x-ndjson|toml)\b|\+(json|xml)\b/.test(mediaType);

/** Contents of a text file; undefined if it is not text or its data is not inline. */
export function fileText({ mediaType, data }: FilePart): string | undefined {
  return data !== undefined && isText(mediaType) ? Buffer.from(data, "base64").toString("utf8") : undefined;
}

/** A text file as prompt text, for wires without files; includes the name so that the model can refer to it. */
export function fileAsText(file: FilePart): string | undefined {
  const text = fileText(file);
  return text === undefined ? undefined : `<file name="${file.name ?? file.mediaType}">\n${text}\n</file>`;
}

type Arguments = Pick<ToolCallPart, "arguments" | "raw" | "text">;

/** Arguments for wires that send JSON text, as the model wrote them. */
export const argumentsText = (call: Arguments): string => call.raw ?? call.text ?? JSON.stringify(call.arguments);

/** Arguments for wires that send an object, which `exactJson` writes as the model wrote them; malformed ones are wrapped as a string. */
export function argumentsObject(call: Arguments): Readonly<Record<string, unknown>> {
  if (call.raw !== undefined && objectIn(call.raw) === undefined) return { invalid_json: call.raw };
  const text = call.raw ?? call.text;
  // The text may come from a client: anything but an object would corrupt the surrounding JSON.
  if (text === undefined || objectIn(text) === undefined) return call.arguments;
  return new ExactJson(text) as unknown as Record<string, unknown>; // Encodes as an object.
}

/** `text`, to be spread into a call, if encoding the arguments would give a different one. */
export const textUnlessSame = (text: string, value: Readonly<Record<string, unknown>>): { text?: string } =>
  text === "" || JSON.stringify(value) === text ? {} : { text };

/** Parses a JSON object; undefined when the text is not one. */
export function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
