import type { GenerationRequest, Message, Part, ToolResultPart } from "venturi/plugin";
import { argumentsObject, asRecord, asText, parseJson, textOf, withNative } from "venturi/plugin/provider";
import { wireName } from "./block-parts.ts";
import { documentBlock, imageBlock } from "./content.ts";

export type Block = Record<string, unknown>;

export interface AnthropicMessage {
  readonly role: "user" | "assistant" | "system";
  readonly content: Block[];
}

/**
 * The conversation in Anthropic's format: system text separate, tool results as blocks of the user message after the calls,
 * adjacent messages of one role merged.
 */
export function messagesOf(messages: readonly Message[]): AnthropicMessage[] {
  const out: AnthropicMessage[] = [];
  for (const message of messages) {
    const role = message.role === "tool" ? "user" : message.role;
    const content = message.parts.flatMap((part) => (role === "assistant" ? assistantBlock(part) : userBlock(part)));
    if (content.length === 0) continue;
    const last = out.at(-1);
    if (last?.role === role) last.content.push(...content);
    else out.push({ role, content });
  }
  return out;
}

/** The system text: a string, unless a client of this wire sent blocks. */
export function systemOf(preface: readonly Message[]): string | Block[] | undefined {
  if (preface.length === 0) return undefined;
  if (!preface.some(({ parts }) => parts.some((part) => part.type === "text" && part.native !== undefined))) {
    return preface.map(textOf).join("\n\n");
  }
  return preface.flatMap(({ parts }) => parts.flatMap(userBlock));
}

/** From Claude Opus 4.8 on; https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages */
const withSystemTurns = /^claude-(opus-4-([89]|\d\d)\b|[a-z]+-([5-9]|\d\d)\b)/;

/**
 * Which system messages the API accepts within the conversation: those its own client placed there and, on models that support it, those
 * between a user turn and the model's. Other clouds serving the same models refuse them.
 */
export function systemPlaces({ messages, model }: GenerationRequest, baseUrl: string): (index: number) => boolean {
  const knows = withSystemTurns.test(model) && /(^|\.)anthropic\.com$/.test(new URL(baseUrl).hostname);
  return (index) => {
    const { native } = messages[index] ?? {};
    if (native?.wire === wireName && native.fields.role !== undefined) return true;
    const before = messages[index - 1]?.role;
    const after = messages[index + 1]?.role;
    return knows && (before === "user" || before === "tool") && (after === undefined || after === "assistant");
  };
}

/** The container that later calls belong to, as named by the last answer. */
export function containerOf(messages: readonly Message[]): string | undefined {
  let found: string | undefined;
  for (const message of messages) {
    for (const part of message.parts) if (isContainer(part)) found = asText(asRecord(part.data).id) ?? found;
  }
  return found;
}

function userBlock(part: Part): Block[] {
  switch (part.type) {
    case "text":
      return textBlock(part);
    case "image":
      return [withNative(imageBlock(part), part.native)];
    case "file":
      return [withNative(documentBlock(part), part.native)];
    case "tool_result":
      return [withNative(resultBlock(part), part.native)];
    case "opaque":
      return opaqueBlock(part);
    default:
      return [];
  }
}

function assistantBlock(part: Part): Block[] {
  switch (part.type) {
    case "text":
      return textBlock(part);
    case "reasoning":
      if (part.encrypted !== undefined) return [{ type: "redacted_thinking", data: part.encrypted }];
      // Unsigned thinking is rejected: it came from another vendor, or was incomplete.
      return part.signature === undefined ? [] : [{ type: "thinking", thinking: part.text, signature: part.signature }];
    case "tool_call": {
      const { call, name, signature } = part;
      const input = argumentsObject(part);
      return [withNative({ type: "tool_use", id: idOf(call), name, input, ...origin(signature) }, part.native)];
    }
    case "opaque":
      return opaqueBlock(part);
    // Anthropic's models produce no images; if a client of this wire sends them, the API decides.
    case "image":
    case "file":
      return part.native === undefined ? [] : userBlock(part);
    default:
      return [];
  }
}

const opaqueBlock = (part: Extract<Part, { type: "opaque" }>): Block[] =>
  part.wire === wireName && asRecord(part.data).type !== "container" ? [asRecord(part.data)] : [];

/** The API rejects blank text, although models emit it before a call. */
const textBlock = ({ text, native }: Extract<Part, { type: "text" }>): Block[] =>
  text.trim() === "" && native === undefined ? [] : [withNative({ type: "text", text }, native)];

const isContainer = (part: Part): part is Extract<Part, { type: "opaque" }> =>
  part.type === "opaque" && part.wire === wireName && asRecord(part.data).type === "container";

function resultBlock(part: ToolResultPart): Block {
  const content = [...(part.images ?? []).map(imageBlock), ...(part.files ?? []).map(documentBlock)];
  const text = part.output === "" ? [] : [{ type: "text", text: part.output }];
  return {
    type: "tool_result",
    tool_use_id: idOf(part.call),
    content: content.length === 0 ? part.output : [...text, ...content],
    ...(part.ok ? {} : { is_error: true }),
  };
}

/** Anthropic accepts only these characters in ids; calls from another wire may contain others. */
const idOf = (call: string): string => call.replace(/[^a-zA-Z0-9_-]/g, "_");

/** The decoder's note on the call's origin. Signatures of other wires hold none. */
function origin(signature: string | undefined): Readonly<Record<string, unknown>> {
  if (signature === undefined || !signature.startsWith("{")) return {};
  const { caller, toolset_name } = asRecord(parseJson(signature));
  return { ...(caller === undefined ? {} : { caller }), ...(toolset_name === undefined ? {} : { toolset_name }) };
}
