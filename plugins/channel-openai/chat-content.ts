import { joinNative } from "venturi/internal";
import type { FilePart, ImagePart, Part, TextPart } from "venturi/plugin";
import { nativeOf } from "venturi/plugin/channel";
import { asRecord, dataUrl } from "venturi/plugin/provider";
import { z } from "zod";
import { audioPart, filePart, imagePart } from "./content.ts";

export const chatWire = "openai-chat";

const ImageItem = z.looseObject({ type: z.literal("image_url"), image_url: z.looseObject({ url: z.string() }) });
const TextItem = z.looseObject({ type: z.literal("text"), text: z.string() });
const FileItem = z.looseObject({
  type: z.literal("file"),
  file: z.looseObject({ file_data: z.string(), filename: z.string().nullish() }),
});
/** A file stored by the vendor, which only it can read. */
const FileIdItem = z.looseObject({ type: z.literal("file"), file: z.looseObject({ file_id: z.string() }) });
const AudioItem = z.looseObject({
  type: z.literal("input_audio"),
  input_audio: z.looseObject({ data: z.string(), format: z.string() }),
});
const RefusalItem = z.looseObject({ type: z.literal("refusal"), refusal: z.string() });

const known: ReadonlySet<string> = new Set(["text", "refusal", "image_url", "file", "input_audio"]);
/** Unknown types are passed on to a provider of the same wire. */
const OtherItem = z.looseObject({
  type: z.string().refine((type) => !known.has(type), { abort: true }),
});

export const Content = z.union([
  z.string(),
  z.array(z.union([TextItem, ImageItem, RefusalItem, FileItem, FileIdItem, AudioItem, OtherItem])),
]);
export type Content = z.output<typeof Content>;
type Item = Exclude<Content, string>[number];

/** Content as parts. List items are marked as such, so that they are sent as a list again. */
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
  if (isFile(item)) return file(item);
  if (isAudio(item)) return audio(item);
  if (isRefusal(item)) return { type: "text", text: item.refusal, native: whole(item) };
  return { type: "opaque", wire: chatWire, data: item };
}

/** For an item sent verbatim whose meaning the part already represents. */
const whole = (item: Record<string, unknown>): NonNullable<TextPart["native"]> => ({
  wire: chatWire,
  fields: item,
  translated: Object.keys(item),
});

const isText = (item: Item): item is z.output<typeof TextItem> => item.type === "text";
const isImage = (item: Item): item is z.output<typeof ImageItem> => item.type === "image_url";
const isRefusal = (item: Item): item is z.output<typeof RefusalItem> => item.type === "refusal";

const isFile = (item: Item): item is z.output<typeof FileItem> =>
  item.type === "file" && asRecord(item.file).file_data !== undefined;
const isAudio = (item: Item): item is z.output<typeof AudioItem> => item.type === "input_audio";

const textFields = { carried: new Set(["type", "text"]) };
const imageFields = { carried: new Set(["type", "image_url"]) };
const urlFields = { carried: new Set(["url"]), at: "image_url.", defaults: { detail: "auto" } };

const fileFields = { carried: new Set(["type", "file"]) };
const fileBodyFields = { carried: new Set(["filename", "file_data"]), at: "file." };
const audioFields = { carried: new Set(["type", "input_audio"]) };
const audioBodyFields = { carried: new Set(["data"]), translated: new Set(["format"]), at: "input_audio." };

function file(item: z.output<typeof FileItem>): FilePart {
  const part = filePart(item.file.file_data, item.file.filename);
  // Anything but a data URL with media type and base64 is kept verbatim.
  const usual = item.file.file_data === dataUrl(part);
  const data = usual ? {} : { native: whole({ "file.file_data": item.file.file_data }) };
  const own = joinNative(nativeOf(chatWire, item, fileFields), nativeOf(chatWire, item.file, fileBodyFields), data);
  return { ...part, native: own.native ?? { wire: chatWire, fields: {} } };
}

function audio(item: z.output<typeof AudioItem>): Part {
  const part = audioPart(item.input_audio.data, item.input_audio.format);
  const own = joinNative(nativeOf(chatWire, item, audioFields), nativeOf(chatWire, item.input_audio, audioBodyFields));
  return { ...part, ...own };
}

function image(item: z.output<typeof ImageItem>): ImagePart {
  const outer = nativeOf(chatWire, item, imageFields);
  const inner = nativeOf(chatWire, asRecord(item.image_url), urlFields);
  return { ...imagePart(item.image_url.url), ...joinNative(outer, inner) };
}
