import { audioFormat } from "venturi/internal";
import type { FilePart, ImagePart } from "venturi/plugin";
import { dataUrl } from "venturi/plugin/provider";

type Body = Record<string, unknown>;

export const imageOf = (part: ImagePart): Body => ({ type: "input_image", image_url: part.url ?? dataUrl(part) });

export function fileOf(part: FilePart): Body {
  if (part.data !== undefined && part.mediaType.startsWith("audio/")) {
    return { type: "input_audio", input_audio: { data: part.data, format: audioFormat(part.mediaType) } };
  }
  if (part.data === undefined) return { type: "input_file", file_url: part.url };
  return { type: "input_file", filename: part.name ?? "file", file_data: dataUrl(part) };
}
