import { audioFormat, fileAsText } from "venturi/internal";
import { type FilePart, type ImagePart, VenturiError } from "venturi/plugin";
import { dataUrl, withNative } from "venturi/plugin/provider";

type Body = Record<string, unknown>;

export const imageOf = (part: ImagePart): Body =>
  withNative({ type: "image_url", image_url: { url: part.url ?? dataUrl(part) } }, part.native);

/** Audio has its own part type; text is sent as text, since the API accepts only PDFs as files. */
export function fileOf(part: FilePart): Body {
  // A client of this wire sent it as a file, so its target server accepts it as one.
  const text = part.native === undefined ? fileAsText(part) : undefined;
  if (text !== undefined) return { type: "text", text };
  if (part.data === undefined) {
    const message = "chat completions take files as data, not by URL; send the data, or use openai-responses";
    throw new VenturiError("provider.request", "invalid_input", message);
  }
  if (part.mediaType.startsWith("audio/")) {
    const audio = { data: part.data, format: audioFormat(part.mediaType) };
    return withNative({ type: "input_audio", input_audio: audio }, part.native);
  }
  return withNative({ type: "file", file: { ...nameOf(part), file_data: dataUrl(part) } }, part.native);
}

/** The API requires a name; a client of this wire that omitted it is not overruled. */
const nameOf = ({ name, native }: FilePart): Body =>
  name === undefined && native !== undefined ? {} : { filename: name ?? "file" };
