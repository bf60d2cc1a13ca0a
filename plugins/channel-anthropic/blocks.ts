import type { FilePart, ImagePart, KnownFields, Native, OpaquePart, TextPart } from "venturi/plugin";
import { nativeOf } from "venturi/plugin/channel";
import { z } from "zod";

export const messagesWire = "anthropic-messages";

const httpUrl = z.string().regex(/^https?:\/\//, "an http: or https: URL");

export const TextBlock = z.looseObject({ type: z.literal("text"), text: z.string() });
const Base64 = z.looseObject({ type: z.literal("base64"), media_type: z.string(), data: z.string() });
const Url = z.looseObject({ type: z.literal("url"), url: httpUrl });
const PlainText = z.looseObject({ type: z.literal("text"), media_type: z.string().optional(), data: z.string() });
/** A source that only the vendor can resolve, such as a stored file. */
const OtherSource = z.looseObject({
  type: z
    .string()
    .refine((type) => !["base64", "url", "text"].includes(type), { abort: true, error: "this source's own fields" }),
});

export const ImageBlock = z.looseObject({ type: z.literal("image"), source: z.union([Base64, Url, OtherSource]) });
export const DocumentBlock = z.looseObject({
  type: z.literal("document"),
  source: z.union([Base64, PlainText, Url, OtherSource]),
  title: z.string().nullish(),
});

type Text = z.output<typeof TextBlock>;
type Image = z.output<typeof ImageBlock>;
type Document = z.output<typeof DocumentBlock>;

const textFields = { carried: new Set(["type", "text"]) };

export const textPart = (block: Text): TextPart => ({ type: "text", text: block.text, ...own(block, textFields) });

export const opaquePart = (block: Record<string, unknown>): OpaquePart => ({
  type: "opaque",
  wire: messagesWire,
  data: block,
});

const sourced = { carried: new Set(["type", "source"]) };

export function imagePart(block: Image): ImagePart | OpaquePart {
  const source = knownSource(block.source);
  if (source === undefined || source.type === "text") return opaquePart(block);
  const content =
    source.type === "base64"
      ? { mediaType: source.media_type, data: source.data }
      : { mediaType: "image/*", url: source.url };
  return { type: "image", ...content, ...own(block, sourced) };
}

/** The API's default media type of a document. */
const plain = "text/plain";
const documentFields = { carried: new Set(["type", "source", "title"]) };

export function documentPart(block: Document): FilePart | OpaquePart {
  const source = knownSource(block.source);
  if (source === undefined) return opaquePart(block);
  return {
    type: "file",
    ...documentContent(source),
    ...(block.title ? { name: block.title } : {}),
    ...own(block, documentFields),
  };
}

function documentContent(source: Source): Pick<FilePart, "mediaType" | "data" | "url"> {
  if (source.type === "url") return { mediaType: "application/pdf", url: source.url };
  if (source.type === "base64") return { mediaType: source.media_type, data: source.data };
  return { mediaType: source.media_type ?? plain, data: Buffer.from(source.data).toString("base64") };
}

type Source = z.output<typeof Base64> | z.output<typeof Url> | z.output<typeof PlainText>;

const knownSource = (source: { type: string }): Source | undefined =>
  ["base64", "url", "text"].includes(source.type) ? (source as Source) : undefined; // Discriminated by type.

/** The block's other fields. Always marked as native, so that a provider of this wire sends blocks where the client did. */
export function own(block: Record<string, unknown>, known: KnownFields): { native: Native } {
  return { native: nativeOf(messagesWire, block, known).native ?? { wire: messagesWire, fields: {} } };
}
