import { fileText } from "venturi/internal";
import type { FilePart, ImagePart } from "venturi/plugin";

type Block = Record<string, unknown>;

export const imageBlock = (part: ImagePart): Block => ({ type: "image", source: sourceOf(part) });

/** PDFs as they are; text as text whatever its media type, since Anthropic accepts only `text/plain`. */
export function documentBlock(part: FilePart): Block {
  const text = fileText(part);
  const source = text === undefined ? sourceOf(part) : { type: "text", media_type: "text/plain", data: text };
  return { type: "document", source, ...(part.name === undefined ? {} : { title: part.name }) };
}

const sourceOf = ({ mediaType, data, url }: ImagePart | FilePart): Block =>
  data === undefined ? { type: "url", url } : { type: "base64", media_type: mediaType, data };
