import { type ImagePart, type Message, type Part, record, textOf } from "venturi/plugin";
import { callIds, type IdOf } from "./call-ids.ts";
import { wireName } from "./decoder.ts";
import type { OpenAiOptions } from "./index.ts";

type Body = Record<string, unknown>;

/** The conversation in this wire's form. */
export function messagesOf(messages: readonly Message[], options: OpenAiOptions): Body[] {
  const idOf = callIds(options);
  return messages.flatMap<Body>((message) => {
    if (message.role === "system") return { role: "system", content: textOf(message) };
    if (message.role === "user") return { role: "user", content: userContent(message.parts) };
    return message.role === "assistant" ? assistant(message, options.sendReasoning, idOf) : results(message, idOf);
  });
}

/** Plain text stays a string, which every server takes; a list only where there is an image. */
function userContent(parts: readonly Part[]): unknown {
  const content: Body[] = [];
  for (const part of parts) {
    if (part.type === "text") content.push({ type: "text", text: part.text });
    else if (part.type === "image") content.push(imageOf(part));
  }
  const onlyText = content.every((part) => part.type === "text");
  return onlyText ? content.map((part) => part.text).join("") : content;
}

const imageOf = (part: ImagePart): Body => ({
  type: "image_url",
  image_url: { url: part.url ?? `data:${part.mediaType};base64,${part.data ?? ""}` },
});

function assistant(message: Message, sendReasoning: OpenAiOptions["sendReasoning"], idOf: IdOf): Body {
  const text = textOf(message);
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
    function: { name: part.name, arguments: JSON.stringify(part.arguments) },
  };
  // Gemini's compatible endpoint signs calls there and refuses the next turn without it.
  return part.signature === undefined
    ? call
    : { ...call, extra_content: { google: { thought_signature: part.signature } } };
}

const fields: ReadonlySet<string> = new Set(["reasoning_content", "reasoning", "reasoning_text"]);

/** Reasoning goes back where it came from: in OpenRouter's list when there was one, else in the field of that vendor. */
function addReasoning(body: Body, parts: readonly Part[]): void {
  for (const part of parts) {
    if (part.type === "opaque" && part.wire === wireName) Object.assign(body, record(part.data));
  }
  if (body.reasoning_details !== undefined) return;
  for (const part of parts) {
    if (part.type !== "reasoning" || part.id === undefined || !fields.has(part.id)) continue;
    body[part.id] = `${body[part.id] ?? ""}${part.text}`;
  }
}

/** A tool's images can't stand in its result on this wire, so they follow in a message of the user's. */
function results(message: Message, idOf: IdOf): Body[] {
  const out: Body[] = [];
  const images: Body[] = [];
  for (const part of message.parts) {
    if (part.type !== "tool_result") continue;
    out.push({ role: "tool", tool_call_id: idOf(part.call), content: part.output });
    for (const image of part.images ?? []) images.push(imageOf(image));
  }
  if (images.length > 0) out.push({ role: "user", content: images });
  return out;
}
