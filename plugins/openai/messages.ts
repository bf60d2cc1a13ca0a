import { withFields } from "venturi/internal";
import type { Message, OpaquePart, Part } from "venturi/plugin";
import { argumentsText, asRecord, textOf, withNative } from "venturi/plugin/provider";
import { fileOf, imageOf } from "./attachments.ts";
import { callIds, type IdOf } from "./call-ids.ts";
import { wireName } from "./decoder.ts";
import type { Dialect } from "./dialects.ts";
import type { OpenAiOptions } from "./options.ts";

type Body = Record<string, unknown>;

/** The conversation in this wire's format. */
export function messagesOf(messages: readonly Message[], options: OpenAiOptions, dialect: Dialect): Body[] {
  const idOf = callIds(options, dialect);
  return messages.flatMap<Body>((message) => {
    if (message.role === "tool") return results(message, idOf);
    const body =
      message.role === "assistant"
        ? assistant(message, options.sendReasoning, idOf)
        : { role: message.role, content: contentOf(message.parts) };
    return withFields(body, message.native);
  });
}

/** Plain text stays a string, which every server accepts; a list only for other content, or if a client wrote one. */
function contentOf(parts: readonly Part[]): unknown {
  const [only] = parts;
  if (parts.length === 1 && only?.type === "text" && only.native === undefined) return only.text;
  const content = parts.flatMap(itemOf);
  const plain = content.every((item) => item.type === "text") && !parts.some(isListed);
  return plain ? content.map((item) => item.text).join("") : content;
}

const isListed = (part: Part): boolean =>
  part.type === "text" ? part.native !== undefined : isOwn(part) && asRecord(part.data).type !== undefined;

const isOwn = (part: Part): part is OpaquePart => part.type === "opaque" && part.wire === wireName;

function itemOf(part: Part): Body[] {
  if (part.type === "text") return [withNative({ type: "text", text: part.text }, part.native)];
  if (part.type === "image") return [imageOf(part)];
  if (part.type === "file") return [fileOf(part)];
  return isOwn(part) && asRecord(part.data).type !== undefined ? [asRecord(part.data)] : [];
}

function assistant(message: Message, sendReasoning: OpenAiOptions["sendReasoning"], idOf: IdOf): Body {
  const listed = message.parts.some(isListed);
  const text = listed ? contentOf(message.parts) : textOf(message);
  const calls = message.parts.flatMap((part) => (part.type === "tool_call" ? [callOf(part, idOf)] : []));
  const body: Body = { role: "assistant", content: text === "" && calls.length > 0 ? null : text };
  if (calls.length > 0) body.tool_calls = calls;
  const wanted = sendReasoning === "always" || (sendReasoning === "toolCalls" && calls.length > 0);
  if (wanted) addReasoning(body, message.parts);
  return body;
}

function callOf(part: Extract<Part, { type: "tool_call" }>, idOf: IdOf): Body {
  const call = {
    id: idOf(part.call),
    type: "function",
    function: { name: part.name, arguments: argumentsText(part) },
  };
  // Gemini's compatible endpoint signs calls there and rejects the next turn without the signature.
  const signed =
    part.signature === undefined ? {} : { extra_content: { google: { thought_signature: part.signature } } };
  return withNative({ ...call, ...signed }, part.native);
}

const fields: ReadonlySet<string> = new Set(["reasoning_content", "reasoning", "reasoning_text"]);

/** Reasoning goes back to where it came from: OpenRouter's list if there was one, else the vendor's field. */
function addReasoning(body: Body, parts: readonly Part[]): void {
  for (const part of parts) {
    // A part with a type is a content item.
    if (isOwn(part) && asRecord(part.data).type === undefined) Object.assign(body, asRecord(part.data));
  }
  if (body.reasoning_details !== undefined) return;
  for (const part of parts) {
    if (part.type !== "reasoning" || part.id === undefined || !fields.has(part.id)) continue;
    body[part.id] = `${body[part.id] ?? ""}${part.text}`;
  }
}

/** Tool results cannot hold images on this wire, so they follow in a user message. */
function results(message: Message, idOf: IdOf): Body[] {
  const out: Body[] = [];
  const images: Body[] = [];
  for (const part of message.parts) {
    if (part.type !== "tool_result") continue;
    out.push(withNative({ role: "tool", tool_call_id: idOf(part.call), content: part.output }, part.native));
    for (const image of part.images ?? []) images.push(imageOf(image));
    for (const file of part.files ?? []) images.push(fileOf(file));
  }
  if (images.length > 0) out.push({ role: "user", content: images });
  return out;
}
