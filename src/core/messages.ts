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

export const ImagePart = z.strictObject({
  type: z.literal("image"),
  mediaType: z.string(),
  /** Base64, or `url`; exactly one of the two. */
  data: z.string().exactOptional(),
  url: z.string().exactOptional(),
  native,
});
export type ImagePart = z.output<typeof ImagePart>;

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
  native,
});
export type ToolResultPart = z.output<typeof ToolResultPart>;

/** A part only one wire understands (a server-side tool's block, a compaction item), kept verbatim to be sent back on it. */
export const OpaquePart = z.strictObject({ type: z.literal("opaque"), wire: z.string(), data: z.unknown() });
export type OpaquePart = z.output<typeof OpaquePart>;

export const Part = z.discriminatedUnion("type", [
  TextPart,
  ImagePart,
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
