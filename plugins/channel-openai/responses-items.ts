import { isDeepStrictEqual } from "node:util";
import { joinNative } from "venturi/internal";
import type { Message, Native, Part, PendingCall, ToolCallPart } from "venturi/plugin";
import { nativeOf } from "venturi/plugin/channel";
import { argumentsText } from "venturi/plugin/provider";
import { z } from "zod";
import { callArguments, invalid, resultParts } from "./content.ts";
import { Content, contentParts, contentText, responsesWire } from "./responses-content.ts";
import { placeOf } from "./responses-output.ts";
import { unsealed } from "./responses-reasoning.ts";

const MessageItem = z.looseObject({
  type: z.literal("message").optional(),
  role: z.enum(["system", "developer", "user", "assistant"]),
  content: Content,
});
const CallItem = z.looseObject({
  type: z.literal("function_call"),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
});
const CustomCallItem = z.looseObject({
  type: z.literal("custom_tool_call"),
  call_id: z.string(),
  name: z.string(),
  input: z.string(),
});
const ResultItem = z.looseObject({
  type: z.enum(["function_call_output", "custom_tool_call_output"]),
  call_id: z.string(),
  output: Content,
});
const ReferenceItem = z
  .looseObject({ type: z.literal("item_reference").nullish(), id: z.string() })
  .refine((item) => item.role === undefined, { abort: true });
const known: ReadonlySet<string> = new Set([
  "message",
  "function_call",
  "custom_tool_call",
  "function_call_output",
  "custom_tool_call_output",
  "item_reference",
]);
/** Reasoning, vendor tool activity and unknown types: for a provider of the same wire. */
const OtherItem = z.looseObject({ type: z.string().refine((type) => !known.has(type), { abort: true }) });

export const Item = z.union([MessageItem, CallItem, CustomCallItem, ResultItem, OtherItem, ReferenceItem]);
export type Item = z.output<typeof Item>;

const isMessage = (item: Item): item is z.output<typeof MessageItem> =>
  typeof item.role === "string" && (item.type == null || item.type === "message");
const isCall = (item: Item): item is z.output<typeof CallItem> => item.type === "function_call";
const isCustomCall = (item: Item): item is z.output<typeof CustomCallItem> => item.type === "custom_tool_call";
const isResult = (item: Item): item is z.output<typeof ResultItem> =>
  item.type === "function_call_output" || item.type === "custom_tool_call_output";

/** The id of a stored item that is only referenced. */
export function referenceOf(item: Item): string | undefined {
  const isReference = item.type === "item_reference" || (item.type == null && item.role === undefined);
  return isReference && typeof item.id === "string" ? item.id : undefined;
}

/** Calls an earlier response left to the client that these items answer: inserted before their results. */
export function answered(left: readonly PendingCall[], items: readonly Item[]): Item[] {
  const results = new Set(items.flatMap((item) => (isResult(item) ? [item.call_id] : [])));
  const present = new Set(items.flatMap((item) => (isCall(item) || isCustomCall(item) ? [item.call_id] : [])));
  return left
    .filter(({ call }) => results.has(call) && !present.has(call))
    .map((left) => ({
      type: "function_call",
      call_id: left.call,
      name: left.name,
      arguments: argumentsText(left),
    }));
}

/** Consecutive items of one role form one message: a call belongs to the same turn as the text next to it. */
export function toMessages(items: readonly Item[]): Message[] {
  const names = new Map<string, string>();
  const messages: Message[] = [];
  const add = (message: Message) => {
    const last = messages.at(-1);
    const joins = message.role === "assistant" || message.role === "tool";
    if (!joins || last?.role !== message.role || isAnother(last.provider, message.provider)) messages.push(message);
    else Object.assign(last, { ...message, parts: [...last.parts, ...message.parts] });
  };
  for (const given of items) {
    const item = withoutOwnId(given);
    if (isMessage(item)) add(messageOf(item));
    else if (isCall(item) || isCustomCall(item)) {
      names.set(item.call_id, item.name);
      add({ role: "assistant", parts: [isCall(item) ? callPart(item) : customCallPart(item)] });
    } else if (isResult(item)) {
      const name = names.get(item.call_id);
      if (name === undefined) throw invalid(`no function call before has the id "${item.call_id}"`);
      add({ role: "tool", parts: [resultPart(item, name)] });
    } else add(otherMessage(item));
  }
  return messages;
}

/** Ids issued here are meaningless to a provider. */
function withoutOwnId(item: Item): Item {
  if (placeOf(item.id) === undefined) return item;
  const { id: _, ...rest } = item;
  return rest as Item; // Optional on every item except references, which are resolved.
}

const isAnother = (speaker: string | undefined, next: string | undefined): boolean =>
  speaker !== undefined && next !== undefined && speaker !== next;

/** Reasoning issued here goes back to its provider; anything else to a provider of this wire. */
function otherMessage(item: Item): Message {
  const reasoning = item.type === "reasoning" ? unsealed(item) : undefined;
  if (reasoning === undefined)
    return { role: "assistant", parts: [{ type: "opaque", wire: responsesWire, data: item }] };
  const { part, provider } = reasoning;
  return { role: "assistant", parts: [part], ...(provider === undefined ? {} : { provider }) };
}

const messageFields = { carried: new Set(["type", "role", "content"]) };
const developerFields = { carried: new Set(["type", "content"]), translated: new Set(["role"]) };
const callFields = {
  carried: new Set(["type", "call_id", "name", "arguments"]),
  translated: new Set(["id", "status"]),
};
const resultFields = { carried: new Set(["type", "call_id", "output"]), translated: new Set(["id", "status"]) };

function messageOf(item: z.output<typeof MessageItem>): Message {
  const { role, content } = item;
  if (role === "assistant") return { role, parts: [said(item)] };
  const fields = role === "developer" ? developerFields : messageFields;
  return {
    role: role === "developer" ? "system" : role,
    parts: contentParts(content),
    ...nativeOf(responsesWire, item, fields),
  };
}

/** Model output: one item, sent back verbatim. */
function said(item: z.output<typeof MessageItem>): Part {
  const fields = { ...item, type: "message" };
  return { type: "text", text: contentText(item.content), native: kept(fields) };
}

function callPart(item: z.output<typeof CallItem>): ToolCallPart {
  return {
    type: "tool_call",
    call: item.call_id,
    name: item.name,
    ...callArguments(item.arguments),
    ...nativeOf(responsesWire, item, callFields),
  };
}

const customCallPart = (item: z.output<typeof CustomCallItem>): ToolCallPart => ({
  type: "tool_call",
  call: item.call_id,
  name: item.name,
  arguments: { input: item.input },
  native: kept(item),
});

function resultPart(item: z.output<typeof ResultItem>, name: string): Part {
  const parts = contentParts(item.output);
  const said = resultParts(parts);
  // Images and files are not stored twice if the provider would write the same list.
  const list = typeof item.output === "string" || isUsual(item.output) ? {} : { output: item.output };
  const hasOpaque = parts.some((part) => part.type === "opaque");
  const own = { native: hasOpaque ? { wire: responsesWire, fields: list } : kept(list) };
  const native =
    item.type === "custom_tool_call_output"
      ? { native: kept(item) }
      : joinNative(nativeOf(responsesWire, item, resultFields), Object.keys(list).length === 0 ? {} : own);
  return { type: "tool_result", call: item.call_id, name, ok: true, ...said, ...native };
}

/** Whether a provider of this wire would write the same list: text, then images, then files, nothing else. */
function isUsual(output: Exclude<Content, string>): boolean {
  const places = output.map((item) => usual.findIndex((fields) => isDeepStrictEqual(Object.keys(item).sort(), fields)));
  const sorted = places.every((place, index) => place >= 0 && place >= (places[index - 1] ?? 0));
  return sorted && places.filter((place) => place === 0).length <= 1 && places.some((place) => place > 0);
}
const usual = [
  ["text", "type"],
  ["image_url", "type"],
  ["file_data", "filename", "type"],
];

/** Fields sent verbatim whose meaning the part already represents. */
const kept = (fields: Record<string, unknown>): Native => ({
  wire: responsesWire,
  fields,
  translated: Object.keys(fields),
});
