import { joinNative } from "venturi/internal";
import type { FilePart, Part } from "venturi/plugin";
import { nativeOf } from "venturi/plugin/channel";
import { dataUrl } from "venturi/plugin/provider";
import { z } from "zod";
import { audioPart, filePart, filePartAt, imagePart, invalid } from "./content.ts";

export const responsesWire = "openai-responses";

const TextItem = z.looseObject({ type: z.enum(["input_text", "output_text", "text"]), text: z.string() });
const RefusalItem = z.looseObject({ type: z.literal("refusal"), refusal: z.string() });
const ImageItem = z.looseObject({ type: z.literal("input_image"), image_url: z.string() });
const FileItem = z.looseObject({
  type: z.literal("input_file"),
  file_data: z.string().nullish(),
  file_url: z.string().nullish(),
  filename: z.string().nullish(),
});
const AudioItem = z.looseObject({
  type: z.literal("input_audio"),
  input_audio: z.looseObject({ data: z.string(), format: z.string() }),
});
/** A file or image stored by the vendor, and unknown types: for a provider of the same wire. */
const OwnItem = z.looseObject({ type: z.enum(["input_image", "input_file"]), file_id: z.string() });
const known: ReadonlySet<string> = new Set([
  "input_text",
  "output_text",
  "text",
  "refusal",
  "input_image",
  "input_file",
  "input_audio",
]);
const OtherItem = z.looseObject({ type: z.string().refine((type) => !known.has(type), { abort: true }) });

export const Content = z.union([
  z.string(),
  z.array(z.union([TextItem, RefusalItem, ImageItem, FileItem, AudioItem, OwnItem, OtherItem])),
]);
export type Content = z.output<typeof Content>;
type Item = Exclude<Content, string>[number];

/** Content as parts. List items are marked as such, so that they are sent as a list again. */
export function contentParts(content: Content): Part[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.map(partOf);
}

/** The text of some content, for readers that support nothing else. */
export const contentText = (content: Content): string =>
  typeof content === "string"
    ? content
    : content.map((item) => (isText(item) ? item.text : isRefusal(item) ? item.refusal : "")).join("");

const listed = { wire: responsesWire, fields: {} };
const textFields = { carried: new Set(["type", "text"]) };
const imageFields = { carried: new Set(["type", "image_url"]), defaults: { detail: "auto" } };
const fileFields = { carried: new Set(["type", "file_data", "file_url", "filename"]) };
const audioFields = { carried: new Set(["type", "input_audio"]) };

const isText = (item: Item): item is z.output<typeof TextItem> =>
  item.type === "input_text" || item.type === "output_text" || item.type === "text";
const isRefusal = (item: Item): item is z.output<typeof RefusalItem> => item.type === "refusal";
const isImage = (item: Item): item is z.output<typeof ImageItem> =>
  item.type === "input_image" && typeof item.image_url === "string";
const isAudio = (item: Item): item is z.output<typeof AudioItem> => item.type === "input_audio";
const isFile = (item: Item): item is z.output<typeof FileItem> => item.type === "input_file" && item.file_id == null;

function partOf(item: Item): Part {
  if (isText(item)) {
    const { native } = nativeOf(responsesWire, item, textFields);
    return { type: "text", text: item.text, native: native ?? listed };
  }
  if (isRefusal(item)) {
    const native = { wire: responsesWire, fields: item, translated: Object.keys(item) };
    return { type: "text", text: item.refusal, native };
  }
  if (isImage(item)) return { ...imagePart(item.image_url), ...nativeOf(responsesWire, item, imageFields) };
  if (isAudio(item)) {
    const { data, format } = item.input_audio;
    return { ...audioPart(data, format), ...nativeOf(responsesWire, item, audioFields) };
  }
  return isFile(item) ? file(item) : { type: "opaque", wire: responsesWire, data: item };
}

function file(item: z.output<typeof FileItem>): FilePart {
  const own = nativeOf(responsesWire, item, fileFields);
  if (item.file_url) return { ...filePartAt(item.file_url, item.filename), ...own };
  if (!item.file_data) throw invalid("an input_file has file_data, file_url or file_id");
  const part = filePart(item.file_data, item.filename);
  // Anything but a data URL with media type and base64 is kept verbatim.
  const usual = item.file_data === dataUrl(part);
  const data = { native: { wire: responsesWire, fields: { file_data: item.file_data }, translated: ["file_data"] } };
  return { ...part, ...joinNative(own, usual ? {} : data) };
}
