import { type FilePart, type ImagePart, type TextPart, VenturiError } from "venturi/plugin";
import { parseDataUrl } from "venturi/plugin/channel";
import { z } from "zod";

const Source = z.looseObject({ type: z.string(), value: z.string().optional(), mimeType: z.string().optional() });
const ContentPart = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  source: Source.optional(),
  metadata: z.unknown().optional(),
  // From the `binary` part, the only one for media before AG-UI 1.0.
  mimeType: z.string().optional(),
  data: z.string().nullish(),
  url: z.string().nullish(),
  filename: z.string().nullish(),
});
type ContentPart = z.output<typeof ContentPart>;
const Content = z.union([z.string(), z.array(ContentPart)]);

/** Content of a user or tool message. */
export type SaidPart = TextPart | ImagePart | FilePart;

/** AG-UI's media parts, and their media type if the client names none. */
const mediaTypes: Readonly<Record<string, string>> = {
  image: "image/*",
  audio: "audio/wav",
  video: "video/mp4",
  document: "application/pdf",
};

/** Image types by the first characters of their base64: the media type must match the data. */
const imageTypes: readonly [string, string][] = [
  ["iVBORw", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
];

/** The parts of a message's content; what no provider can receive is added to `unsent`. */
export function contentParts(value: unknown, unsent: Set<string>): SaidPart[] {
  const content = Content.safeParse(value ?? "");
  if (!content.success) throw invalid("a message's content is text or parts");
  if (typeof content.data === "string") return content.data === "" ? [] : [{ type: "text", text: content.data }];
  return content.data.flatMap((part): SaidPart[] => {
    if (part.type === "text" && part.text !== undefined) return [{ type: "text", text: part.text }];
    // A handle issued by one vendor, which need not be the model's.
    if (part.source?.type === "file") {
      unsent.add("messages.content.source.file");
      return [];
    }
    return [media(part)];
  });
}

function media(part: ContentPart): ImagePart | FilePart {
  const { type } = part;
  const { data, url, mimeType } = sourceOf(part);
  const fallback = type === "binary" ? "application/octet-stream" : mediaTypes[type];
  if (fallback === undefined || (data === undefined && url === undefined)) {
    throw invalid(`no content of type "${type}" is taken`);
  }
  const mediaType = mimeType ?? fallback;
  const name = nameOf(part);
  if (mediaType.startsWith("image/")) {
    if (data === undefined) return { type: "image", mediaType, url: webAddress(url, type) };
    return { type: "image", mediaType: mediaType === "image/*" ? imageType(data) : mediaType, data };
  }
  const from = data === undefined ? { url: webAddress(url, type) } : { data };
  return { type: "file", mediaType, ...from, ...(name === undefined ? {} : { name }) };
}

function sourceOf({ source, data, url, mimeType }: ContentPart) {
  const given = source === undefined ? { data, url } : { [source.type === "data" ? "data" : "url"]: source.value };
  const inline = parseDataUrl(given.url ?? "");
  if (inline?.isBase64) return { data: inline.data, mimeType: source?.mimeType ?? mimeType ?? inline.mediaType };
  return { data: given.data ?? undefined, url: given.url ?? undefined, mimeType: source?.mimeType ?? mimeType };
}

function nameOf({ filename, metadata }: ContentPart): string | undefined {
  if (filename != null) return filename;
  const fields = typeof metadata === "object" && metadata !== null ? (metadata as Record<string, unknown>) : {}; // Chosen by the client.
  const name = fields.filename ?? fields.name ?? fields.title;
  return typeof name === "string" ? name : undefined;
}

function imageType(data: string): string {
  const found = imageTypes.find(([start]) => data.startsWith(start));
  if (found === undefined) throw invalid("the data of an image needs its mimeType");
  return found[1];
}

function webAddress(url: string | undefined, type: string): string {
  if (url !== undefined && /^https?:\/\//.test(url)) return url;
  throw invalid(`the source of a message's ${type} is data or an https: URL`);
}

export const invalid = (message: string) => new VenturiError("request.parse", "invalid_input", message);
