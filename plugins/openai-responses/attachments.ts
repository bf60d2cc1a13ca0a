import type { FilePart, ImagePart } from "venturi/plugin";

type Body = Record<string, unknown>;

export const imageOf = (part: ImagePart): Body => ({ type: "input_image", image_url: part.url ?? dataUrl(part) });

export function fileOf(part: FilePart): Body {
  if (part.data !== undefined && part.mediaType.startsWith("audio/")) {
    const format = part.mediaType.slice("audio/".length).replace(/^x-/, "");
    return { type: "input_audio", input_audio: { data: part.data, format: format === "mpeg" ? "mp3" : format } };
  }
  if (part.data === undefined) return { type: "input_file", file_url: part.url };
  return { type: "input_file", filename: part.name ?? "file", file_data: dataUrl(part) };
}

const dataUrl = ({ mediaType, data }: ImagePart | FilePart): string => `data:${mediaType};base64,${data ?? ""}`;
