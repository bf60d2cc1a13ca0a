import { type Message, type Part, parseJson, record, type ToolResultPart, word } from "venturi/plugin";
import { wireName } from "./blocks.ts";
import { documentBlock, imageBlock } from "./content.ts";

export interface AnthropicMessage {
  readonly role: "user" | "assistant";
  readonly content: unknown[];
}

/**
 * The conversation as Anthropic takes it: system text apart, tool results as blocks of the user message that follows the
 * calls, neighbours of one role in one message.
 */
export function messagesOf(messages: readonly Message[]): AnthropicMessage[] {
  const out: AnthropicMessage[] = [];
  for (const message of messages) {
    if (message.role === "system") continue;
    const role = message.role === "assistant" ? "assistant" : "user";
    const content: unknown[] = [];
    for (const part of message.parts) {
      const block = role === "assistant" ? assistantBlock(part) : userBlock(part);
      if (block !== undefined) content.push(block);
    }
    if (content.length === 0) continue;
    const last = out.at(-1);
    if (last?.role === role) last.content.push(...content);
    else out.push({ role, content });
  }
  return out;
}

/** The container that later calls of the conversation belong to, as the last answer named it. */
export function containerOf(messages: readonly Message[]): string | undefined {
  let found: string | undefined;
  for (const message of messages) {
    for (const part of message.parts) if (isContainer(part)) found = word(record(part.data).id) ?? found;
  }
  return found;
}

function userBlock(part: Part): unknown {
  if (part.type === "text") return textBlock(part.text);
  if (part.type === "image") return imageBlock(part);
  if (part.type === "file") return documentBlock(part);
  return part.type === "tool_result" ? resultBlock(part) : undefined;
}

function assistantBlock(part: Part): unknown {
  switch (part.type) {
    case "text":
      return textBlock(part.text);
    case "reasoning":
      if (part.encrypted !== undefined) return { type: "redacted_thinking", data: part.encrypted };
      // Unsigned thinking is refused: it came from another vendor, or was never whole.
      return part.signature === undefined
        ? undefined
        : { type: "thinking", thinking: part.text, signature: part.signature };
    case "tool_call":
      return {
        type: "tool_use",
        id: idOf(part.call),
        name: part.name,
        input: part.arguments,
        ...origin(part.signature),
      };
    case "opaque":
      return part.wire === wireName && record(part.data).type !== "container" ? part.data : undefined;
    default:
      return undefined;
  }
}

/** Text without anything in it but blanks is refused, though models say such things before a call. */
const textBlock = (text: string): unknown => (text.trim() === "" ? undefined : { type: "text", text });

const isContainer = (part: Part): part is Extract<Part, { type: "opaque" }> =>
  part.type === "opaque" && part.wire === wireName && record(part.data).type === "container";

function resultBlock(part: ToolResultPart): unknown {
  const content = [...(part.images ?? []).map(imageBlock), ...(part.files ?? []).map(documentBlock)];
  const text = part.output === "" ? [] : [{ type: "text", text: part.output }];
  return {
    type: "tool_result",
    tool_use_id: idOf(part.call),
    content: content.length === 0 ? part.output : [...text, ...content],
    ...(part.ok ? {} : { is_error: true }),
  };
}

/** Anthropic takes ids of these characters only; calls made on another wire may hold others. */
const idOf = (call: string): string => call.replace(/[^a-zA-Z0-9_-]/g, "_");

/** What the decoder noted about who made the call. A signature of another wire holds no such thing. */
function origin(signature: string | undefined): Readonly<Record<string, unknown>> {
  if (signature === undefined || !signature.startsWith("{")) return {};
  const { caller, toolset_name } = record(parseJson(signature));
  return { ...(caller === undefined ? {} : { caller }), ...(toolset_name === undefined ? {} : { toolset_name }) };
}
