import { fileText } from "venturi/internal";
import {
  type FilePart,
  type ImagePart,
  type Message,
  type Part,
  type ToolResultPart,
  VenturiError,
} from "venturi/plugin";
import { argumentsObject, asRecord } from "venturi/plugin/provider";
import { wireName } from "./blocks.ts";

export type Block = Record<string, unknown>;

export interface ConverseMessage {
  readonly role: "user" | "assistant";
  readonly content: Block[];
}

/** The conversation in Bedrock's format: tool results in the user message after the calls, adjacent messages of a role merged. */
export function messagesOf(messages: readonly Message[]): ConverseMessage[] {
  const out: ConverseMessage[] = [];
  for (const message of messages) {
    const role = message.role === "assistant" ? "assistant" : "user";
    const content = message.parts.flatMap((part) => (role === "assistant" ? assistantBlock(part) : userBlock(part)));
    if (content.length === 0) continue;
    const last = out.at(-1);
    if (last?.role === role) last.content.push(...content);
    else out.push({ role, content });
  }
  return out;
}

function userBlock(part: Part): Block[] {
  switch (part.type) {
    case "text":
      return textBlock(part.text);
    case "image":
      return [imageBlock(part)];
    case "file":
      return [documentBlock(part)];
    case "tool_result":
      return [{ toolResult: resultOf(part) }];
    default:
      return [];
  }
}

function assistantBlock(part: Part): Block[] {
  switch (part.type) {
    case "text":
      return textBlock(part.text);
    case "reasoning":
      if (part.encrypted !== undefined) return [{ reasoningContent: { redactedContent: part.encrypted } }];
      // Unsigned thinking is rejected: it came from another vendor, or was incomplete.
      if (part.signature === undefined) return [];
      return [{ reasoningContent: { reasoningText: { text: part.text, signature: part.signature } } }];
    case "tool_call":
      return [{ toolUse: { toolUseId: idOf(part.call), name: part.name, input: argumentsObject(part) } }];
    case "opaque":
      return part.wire === wireName ? [{ ...asRecord(part.data) }] : [];
    default:
      return [];
  }
}

/** The API rejects blank text, although models emit it before a call. */
const textBlock = (text: string): Block[] => (text.trim() === "" ? [] : [{ text }]);

function resultOf(part: ToolResultPart): Block {
  const content = [...(part.images ?? []).map(imageBlock), ...(part.files ?? []).map(documentBlock)];
  return {
    toolUseId: idOf(part.call),
    content: part.output === "" && content.length > 0 ? content : [{ text: part.output || "(empty)" }, ...content],
    ...(part.ok ? {} : { status: "error" }),
  };
}

const imageBlock = (part: ImagePart): Block => ({
  image: { format: part.mediaType.split("/")[1] ?? "png", source: sourceOf(part) },
});

/** Text as text whatever its media type, everything else by its kind. */
function documentBlock(part: FilePart): Block {
  const format = fileText(part) === undefined ? (formats.get(part.mediaType) ?? "pdf") : "txt";
  return { document: { format, name: nameOf(part.name), source: sourceOf(part) } };
}

const formats: ReadonlyMap<string, string> = new Map([
  ["application/pdf", "pdf"],
  ["text/csv", "csv"],
  ["application/msword", "doc"],
  ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"],
  ["application/vnd.ms-excel", "xls"],
  ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"],
]);

/** Only these characters, and no two spaces in a row. */
const nameOf = (name = "document"): string =>
  name
    .replace(/[^A-Za-z0-9()[\]-]/g, " ")
    .split(" ")
    .filter((word) => word !== "")
    .join(" ")
    .slice(0, 200) || "document";

function sourceOf({ data, url, type }: ImagePart | FilePart): Block {
  if (data !== undefined) return { bytes: data };
  if (url?.startsWith("s3://")) return { s3Location: { uri: url } };
  const message = `bedrock takes a ${type} as base64 data or by an s3:// URL; load it and pass its data`;
  throw new VenturiError("provider.stream", "invalid_input", message);
}

/** Ids may have these characters only; calls from another wire may contain others. */
const idOf = (call: string): string => call.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64);
