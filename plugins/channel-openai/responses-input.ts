import type { FilePart, ImagePart, Message, Part, RunRow, Runs } from "venturi/plugin";
import { argumentsText, asRecord, dataUrl, withNative } from "venturi/plugin/provider";
import { z } from "zod";
import { responsesWire } from "./responses-content.ts";

export type Item = Record<string, unknown>;

/** A conversation as API items. */
/** Items of a run's input, with large texts, which the request holds by hash, restored. */
export async function inputItems(runs: Runs, { run, request }: RunRow): Promise<Item[]> {
  const messages: Message[] = [];
  for (const message of request.input.messages ?? []) {
    const parts: Message["parts"] = [];
    for (const part of message.parts) {
      const isLarge = part.type === "text" && part.hash !== undefined;
      parts.push(isLarge ? { ...part, text: Buffer.from(await runs.content(run, part.hash ?? "")).toString() } : part);
    }
    messages.push({ ...message, parts });
  }
  return itemsOfMessages(messages, run);
}

function itemsOfMessages(messages: readonly Message[], run: string): Item[] {
  const items = messages.flatMap((message) => {
    if (message.role === "assistant") return message.parts.flatMap(saidItem);
    if (message.role === "tool") return message.parts.flatMap(resultItem);
    const item = {
      type: "message",
      role: message.role,
      status: "completed",
      content: message.parts.flatMap(contentItem),
    };
    return [withNative(item, own(message))];
  });
  return items.map((item, index) => ({ id: inputId(item.type, run, index), ...item }));
}

/** Input ids differ from output ids. */
const inputId = (type: unknown, run: string, index: number): string => `${kindOf(type)}in_${run}_${index}`;

const own = ({ native }: { native?: Message["native"] }) => (native?.wire === responsesWire ? native : undefined);

const kindOf = (type: unknown): string =>
  type === "message" ? "msg" : type === "function_call" ? "fc" : type === "reasoning" ? "rs" : "item";

function contentItem(part: Part): Item[] {
  if (part.type === "text") return [withNative({ type: "input_text", text: part.text }, own(part))];
  if (part.type === "image") return [{ type: "input_image", detail: "auto", image_url: urlOf(part) }];
  if (part.type === "file") return [{ type: "input_file", filename: part.name ?? null, file_data: urlOf(part) }];
  return part.type === "opaque" && part.wire === responsesWire ? [asRecord(part.data)] : [];
}

const urlOf = (part: ImagePart | FilePart): string => part.url ?? dataUrl(part);

function saidItem(part: Part): Item[] {
  switch (part.type) {
    case "text": {
      const content = [{ type: "output_text", text: part.text, annotations: [] }];
      return [withNative({ type: "message", role: "assistant", status: "completed", content }, own(part))];
    }
    case "tool_call": {
      const call = { call_id: part.call, name: part.name, arguments: argumentsText(part) };
      return [withNative({ type: "function_call", status: "completed", ...call }, own(part))];
    }
    case "reasoning":
      return [{ type: "reasoning", summary: part.text === "" ? [] : [{ type: "summary_text", text: part.text }] }];
    case "opaque":
      return part.wire === responsesWire ? [asRecord(part.data)] : [];
    default:
      return [];
  }
}

function resultItem(part: Part): Item[] {
  if (part.type !== "tool_result") return [];
  const item = { type: "function_call_output", status: "completed", call_id: part.call, output: part.output };
  return [withNative(item, own(part))];
}

export const Page = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  order: z.enum(["asc", "desc"]).default("desc"),
  after: z.string().optional(),
});

type PageQuery = Omit<z.output<typeof Page>, "after"> & { readonly after?: string | undefined };

/** One page in the API's list format. */
export function itemPage(items: readonly Item[], { limit, order, after }: PageQuery): Record<string, unknown> {
  const ordered = order === "asc" ? items : items.toReversed();
  const start = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  const data = ordered.slice(start, start + limit);
  return {
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < ordered.length,
  };
}
