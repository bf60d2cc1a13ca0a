import {
  argumentsObject,
  type FilePart,
  type ImagePart,
  type Message,
  type Part,
  parseJson,
  type ToolCallPart,
  type ToolResultPart,
} from "venturi/plugin";
import { wireName } from "./decoder.ts";

export interface Content {
  readonly role: "user" | "model";
  readonly parts: unknown[];
}

/**
 * The conversation as Gemini takes it. Parallel calls stay in one content and their results in the next, and every
 * signature goes back on the part that it came with.
 */
export function contentsOf(messages: readonly Message[], model: string): Content[] {
  const out: Content[] = [];
  let results: Content | undefined;
  for (const message of messages) {
    if (message.role === "system") continue;
    if (message.role === "tool") {
      if (results === undefined) {
        results = { role: "user", parts: [] };
        out.push(results);
      }
      for (const part of message.parts) if (part.type === "tool_result") results.parts.push(...resultParts(part));
      continue;
    }
    results = undefined;
    const role = message.role === "assistant" ? "model" : "user";
    const parts = message.parts.map((part) => partOf(part, role)).filter((part) => part !== undefined);
    if (role === "model") vouchForForeignCalls(message, parts, model);
    if (parts.length > 0) out.push({ role, parts });
  }
  return out;
}

function partOf(part: Part, role: Content["role"]): Record<string, unknown> | undefined {
  switch (part.type) {
    case "text":
      if (part.signature !== undefined) return { text: part.text, thoughtSignature: part.signature };
      return part.text === "" ? undefined : { text: part.text };
    case "image":
    case "file":
      return dataPart(part);
    case "reasoning":
      // A thought without a signature is only a summary for people; the model does not want it back.
      if (role !== "model" || part.signature === undefined) return undefined;
      return { text: part.text, thought: true, thoughtSignature: part.signature };
    case "tool_call":
      return callPart(part);
    case "opaque":
      return part.wire === wireName ? (part.data as Record<string, unknown>) : undefined; // the decoder made it of a part
    default:
      return undefined;
  }
}

const callPart = (part: ToolCallPart): Record<string, unknown> => ({
  functionCall: { ...vendorId(part.call), name: part.name, args: argumentsObject(part) },
  ...(part.signature === undefined ? {} : { thoughtSignature: part.signature }),
});

function resultParts(part: ToolResultPart): unknown[] {
  const value = parseJson(part.output) ?? part.output;
  const response = part.ok ? { output: value } : { error: value };
  const answer = { functionResponse: { ...vendorId(part.call), name: part.name, response } };
  return [answer, ...[...(part.images ?? []), ...(part.files ?? [])].map(dataPart)];
}

const dataPart = (part: ImagePart | FilePart): Record<string, unknown> =>
  part.data === undefined
    ? { fileData: { mimeType: part.mediaType, fileUri: part.url } }
    : { inlineData: { mimeType: part.mediaType, data: part.data } };

/** Only newer models give calls an id; one that Venturi made up is not Google's to see. */
const vendorId = (call: string): { id?: string } => (/^call_/.test(call) ? {} : { id: call });

/** What Google documents for a call that its own model did not make; without it Gemini 3 refuses the conversation. */
const unsigned = "skip_thought_signature_validator";

function vouchForForeignCalls(message: Message, parts: Record<string, unknown>[], model: string): void {
  if (!/gemini-([3-9]|\d\d)/.test(model)) return;
  if (message.parts.some((part) => part.type === "tool_call" && part.signature !== undefined)) return;
  const first = parts.find((part) => part.functionCall !== undefined);
  if (first !== undefined) first.thoughtSignature = unsigned;
}
