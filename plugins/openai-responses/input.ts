import { withFields } from "venturi/internal";
import type { Message, Part } from "venturi/plugin";
import { argumentsText, asRecord, parseJson, textOf, withNative } from "venturi/plugin/provider";
import { fileOf, imageOf } from "./attachments.ts";
import { wireName } from "./decoder.ts";
import { outputItem } from "./vendor-outputs.ts";

type Body = Record<string, unknown>;

export interface Input {
  /** The client's `instructions` on this wire. */
  readonly instructions?: string;
  readonly input: readonly Body[];
}

interface Context {
  /** The vendor stores items. */
  readonly store: boolean;
  /** Items of the calls so far, by id. */
  readonly called: Map<string, Body>;
}

/** The conversation as input items, in chronological order. */
export function inputOf(messages: readonly Message[], { store }: { readonly store: boolean }): Input {
  const context = { store, called: new Map<string, Body>() };
  const instructions = messages.find(isInstructions);
  const input = messages.flatMap<Body>((message) => {
    if (message === instructions) return [];
    if (message.role === "assistant") return message.parts.flatMap((part) => assistantItem(part, context));
    if (message.role === "tool") return message.parts.flatMap((part) => resultItem(part, context.called));
    return [withFields({ role: message.role, content: contentOf(message) }, message.native)];
  });
  return { input, ...(instructions === undefined ? {} : { instructions: textOf(instructions) }) };
}

const isInstructions = ({ native }: Message): boolean => native?.fields.type === "instructions";

/** Plain text is sent as a string, unless a client wrote it as a list of one. */
function contentOf(message: Message): unknown {
  const [part, ...others] = message.parts;
  if (part?.type === "text" && part.native === undefined && others.length === 0) return part.text;
  return message.parts.flatMap(contentItem);
}

function contentItem(part: Part): Body[] {
  if (part.type === "text") return [withNative({ type: "input_text", text: part.text }, part.native)];
  if (part.type === "file") return [withNative(fileOf(part), part.native)];
  if (part.type === "image") return [withNative(imageOf(part), part.native)];
  return part.type === "opaque" && part.wire === wireName ? [asRecord(part.data)] : [];
}

function assistantItem(part: Part, context: Context): Body[] {
  switch (part.type) {
    case "text":
      return [withNative({ role: "assistant", content: [{ type: "output_text", text: part.text }] }, part.native)];
    case "reasoning":
      return reasoningItem(part, context);
    case "tool_call":
      return [callItem(part, context.called)];
    case "opaque":
      return part.wire === wireName ? [asRecord(part.data)] : [];
    default:
      return [];
  }
}

/** A stored item is found by its id; otherwise it must be included encrypted, or it is rejected. */
function reasoningItem(part: Extract<Part, { type: "reasoning" }>, { store }: Context): Body[] {
  const { id, encrypted, text } = part;
  if (encrypted === undefined && (id === undefined || !store)) return [];
  return [
    {
      type: "reasoning",
      ...(id !== undefined && { id }),
      summary: text === "" ? [] : [{ type: "summary_text", text }],
      ...(encrypted !== undefined && { encrypted_content: encrypted }),
    },
  ];
}

/** A vendor call is sent back as the original item; a function call with its native fields. */
function callItem(part: Extract<Part, { type: "tool_call" }>, called: Map<string, Body>): Body {
  const item = part.signature === undefined ? {} : asRecord(parseJson(part.signature));
  called.set(part.call, item);
  if (item.type !== undefined && item.type !== "function_call") return item;
  const args = argumentsText(part);
  const call = { type: "function_call", call_id: part.call, name: part.name, arguments: args, ...item };
  return withNative(call, part.native);
}

function resultItem(part: Part, called: ReadonlyMap<string, Body>): Body[] {
  if (part.type !== "tool_result") return [];
  const shown = [...(part.images ?? []).map(imageOf), ...(part.files ?? []).map(fileOf)];
  const text = part.output === "" ? [] : [{ type: "input_text", text: part.output }];
  const output = shown.length === 0 ? part.output : [...text, ...shown];
  const item = called.get(part.call) ?? {};
  // A call sent back verbatim has the vendor's id, whatever this run calls it.
  const id = item.type === undefined || item.type === "function_call" ? part.call : String(item.call_id ?? part.call);
  return [withNative(outputItem(item, id, { ok: part.ok, output }), part.native)];
}
