import { type Message, type Part, parseJson, record, textOf } from "venturi/plugin";
import { fileOf, imageOf } from "./attachments.ts";
import { wireName } from "./decoder.ts";
import { outputItem } from "./vendor-outputs.ts";

type Body = Readonly<Record<string, unknown>>;

/** The conversation as input items, in the order in which things were said and done. */
export function inputOf(messages: readonly Message[], store: boolean): Body[] {
  const called = new Map<string, Body>();
  return messages.flatMap<Body>((message) => {
    switch (message.role) {
      case "system":
        return [{ role: "system", content: textOf(message) }];
      case "user":
        return [{ role: "user", content: message.parts.flatMap(userPart) }];
      case "assistant":
        return message.parts.flatMap((part) => assistantItem(part, store, called));
      default:
        return message.parts.flatMap((part) => resultItem(part, called));
    }
  });
}

function userPart(part: Part): Body[] {
  if (part.type === "text") return [{ type: "input_text", text: part.text }];
  if (part.type === "file") return [fileOf(part)];
  return part.type === "image" ? [imageOf(part)] : [];
}

function assistantItem(part: Part, store: boolean, called: Map<string, Body>): Body[] {
  switch (part.type) {
    case "text":
      return [{ role: "assistant", content: [{ type: "output_text", text: part.text }] }];
    case "reasoning":
      return reasoningItem(part, store);
    case "tool_call":
      return [callItem(part, called)];
    case "opaque":
      return part.wire === wireName ? [record(part.data)] : [];
    default:
      return [];
  }
}

/** A stored item is found by its id; one that is not has to come along enciphered, or it is refused. */
function reasoningItem(part: Extract<Part, { type: "reasoning" }>, store: boolean): Body[] {
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

/** A call of the vendor's own kind goes back as the item it was; a function call with what it carried. */
function callItem(part: Extract<Part, { type: "tool_call" }>, called: Map<string, Body>): Body {
  const item = part.signature === undefined ? {} : record(parseJson(part.signature));
  called.set(part.call, item);
  if (item.type !== undefined && item.type !== "function_call") return item;
  const args = JSON.stringify(part.arguments);
  return { type: "function_call", call_id: part.call, name: part.name, arguments: args, ...item };
}

function resultItem(part: Part, called: ReadonlyMap<string, Body>): Body[] {
  if (part.type !== "tool_result") return [];
  const shown = [...(part.images ?? []).map(imageOf), ...(part.files ?? []).map(fileOf)];
  const text = part.output === "" ? [] : [{ type: "input_text", text: part.output }];
  const output = shown.length === 0 ? part.output : [...text, ...shown];
  const item = called.get(part.call) ?? {};
  // A call that was sent back as it came has the vendor's id, whatever this run calls it.
  const id = item.type === undefined || item.type === "function_call" ? part.call : String(item.call_id ?? part.call);
  return [outputItem(item, id, { ok: part.ok, output })];
}
