import { efforts, isMediaType, objectIn, textUnlessSame } from "venturi/internal";
import { type Effort, type FilePart, type ImagePart, type Part, type ToolCallPart, VenturiError } from "venturi/plugin";
import { parseDataUrl } from "venturi/plugin/channel";

export const invalid = (message: string): VenturiError => new VenturiError("request.parse", "invalid_input", message);

/** An image in OpenAI's format: a data URL, or a URL that the provider fetches, never this service. */
export function imagePart(url: string): ImagePart {
  const inline = inlineOf(url);
  if (inline?.parameters === "") return { type: "image", mediaType: inline.mediaType, data: inline.data };
  if (!/^https?:\/\//.test(url)) throw invalid("an image is a data: or https: URL");
  return { type: "image", mediaType: "image/*", url };
}

function inlineOf(url: string): ReturnType<typeof parseDataUrl> {
  const inline = parseDataUrl(url);
  return inline?.isBase64 && isMediaType(inline.mediaType) ? inline : undefined;
}

/** A file in OpenAI's format: a data URL, or bare base64, which means a PDF. */
export function filePart(data: string, name: string | null | undefined): FilePart {
  const named = name ? { name } : {};
  const inline = inlineOf(data);
  if (inline !== undefined) return { type: "file", mediaType: inline.mediaType, data: inline.data, ...named };
  if (data.startsWith("data:")) throw invalid("file_data is base64, or a data: URL with base64");
  return { type: "file", mediaType: typeByName(name) ?? "application/pdf", data, ...named };
}

/** A URL that the provider fetches, never this service. */
export function filePartAt(url: string, name: string | null | undefined): FilePart {
  if (!/^https?:\/\//.test(url)) throw invalid("file_url is an https: URL");
  const mediaType = typeByName(name) ?? typeByName(new URL(url).pathname) ?? "application/pdf";
  return { type: "file", mediaType, url, ...(name ? { name } : {}) };
}

export const audioPart = (data: string, format: string): FilePart => ({
  type: "file",
  mediaType: `audio/${format === "mp3" ? "mpeg" : format}`,
  data,
});

const types: Readonly<Record<string, string>> = {
  pdf: "application/pdf",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  html: "text/html",
  json: "application/json",
  xml: "application/xml",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
};
const typeByName = (name: string | null | undefined): string | undefined =>
  types[/\.([a-z]+)$/i.exec(name ?? "")?.[1]?.toLowerCase() ?? ""];

/** Arguments of a call sent back by a client. Vendors compare and cache the exact text, and accept invalid JSON back too. */
export function callArguments(text: string): Pick<ToolCallPart, "arguments" | "raw" | "text"> {
  const parsed = objectIn(text);
  if (parsed !== undefined) return { arguments: parsed, ...textUnlessSame(text, parsed) };
  return text === "" ? { arguments: {}, text } : { arguments: {}, raw: text };
}

/** Parameters of a free-text tool. */
export const freeText = { type: "object", properties: { input: { type: "string" } }, required: ["input"] };

/** A tool result: its text joined, its images and files. */
export function resultParts(parts: readonly Part[]): { output: string; images?: ImagePart[]; files?: FilePart[] } {
  const output = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  const images = parts.filter((part) => part.type === "image");
  const files = parts.filter((part) => part.type === "file");
  return { output, ...(images.length > 0 ? { images } : {}), ...(files.length > 0 ? { files } : {}) };
}

/** An effort all providers understand; the vendor may support more. */
export const effortOf = (effort: string | null | undefined): Effort | undefined =>
  efforts.find((known) => known === effort);
