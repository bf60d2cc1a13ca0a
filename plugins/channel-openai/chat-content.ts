import { type ImagePart, joinNative, nativeOf, type Part, record, type TextPart } from "venturi/plugin";
import { z } from "zod";
import { imagePart } from "./content.ts";

export const chatWire = "openai-chat";

const ImageItem = z.looseObject({ type: z.literal("image_url"), image_url: z.looseObject({ url: z.string() }) });
const TextItem = z.looseObject({ type: z.literal("text"), text: z.string() });
const RefusalItem = z.looseObject({ type: z.literal("refusal"), refusal: z.string() });

/** Kinds that are not known here go on to a provider that speaks the same wire. */
const OtherItem = z.looseObject({
  type: z.string().refine((type) => !["text", "refusal", "image_url"].includes(type)),
});

export const Content = z.union([z.string(), z.array(z.union([TextItem, ImageItem, RefusalItem, OtherItem]))]);
export type Content = z.output<typeof Content>;
type Item = Exclude<Content, string>[number];

/** Content as parts. An item of a list keeps that it was one, so that it is sent as one. */
export function contentParts(content: Content): Part[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return content.map(partOf);
}

function partOf(item: Item): Part {
  if (isText(item)) {
    const { native } = nativeOf(chatWire, item, textFields);
    return { type: "text", text: item.text, native: native ?? { wire: chatWire, fields: {} } };
  }
  if (isImage(item)) return image(item);
  if (isRefusal(item)) return { type: "text", text: item.refusal, native: whole(item) };
  return { type: "opaque", wire: chatWire, data: item };
}

/** For an item that is sent as it is, and whose meaning the part has. */
const whole = (item: Record<string, unknown>): NonNullable<TextPart["native"]> => ({
  wire: chatWire,
  fields: item,
  translated: Object.keys(item),
});

const isText = (item: Item): item is z.output<typeof TextItem> => item.type === "text";
const isImage = (item: Item): item is z.output<typeof ImageItem> => item.type === "image_url";
const isRefusal = (item: Item): item is z.output<typeof RefusalItem> => item.type === "refusal";

const textFields = { carried: new Set(["type", "text"]) };
const imageFields = { carried: new Set(["type", "image_url"]) };
const urlFields = { carried: new Set(["url"]), at: "image_url.", defaults: { detail: "auto" } };

function image(item: z.output<typeof ImageItem>): ImagePart {
  const outer = nativeOf(chatWire, item, imageFields);
  const inner = nativeOf(chatWire, record(item.image_url), urlFields);
  return { ...imagePart(item.image_url.url), ...joinNative(outer, inner) };
}
