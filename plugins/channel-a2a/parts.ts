import { isJsonObject, isMediaType, type JsonObject } from "venturi/internal";
import type { AgentInfo, FilePart, ImagePart, RunInput, TextPart } from "venturi/plugin";
import { a2aError, invalidParams } from "./errors.ts";

const mostParts = 100;

/** Converts a message's parts to a run's input: values for declared inputs, everything else as said. */
export function inputOf(agent: AgentInfo, message: JsonObject): RunInput {
  const parts = partsOf(message);
  const takesValues = isJsonObject(agent.inputs?.properties) && Object.keys(agent.inputs.properties).length > 0;
  const values = parts.map(({ data }) => data).filter(isJsonObject);
  const variables = takesValues ? Object.assign({}, ...values) : {};
  const said = parts.flatMap((part) => (takesValues && isJsonObject(part.data) ? [] : [saidPart(part)]));
  const text = said.every(({ type }) => type === "text")
    ? { text: said.map((part) => (part as TextPart).text).join("\n") || JSON.stringify(variables) }
    : { messages: [{ role: "user" as const, parts: said }] };
  return { ...text, ...(Object.keys(variables).length === 0 ? {} : { variables }) };
}

export function partsOf({ parts }: JsonObject): readonly JsonObject[] {
  if (!Array.isArray(parts) || parts.length === 0) throw invalidParams("message.parts is missing");
  if (parts.length > mostParts) throw invalidParams(`a message has at most ${mostParts} parts`);
  return parts.map((part) => {
    if (!isJsonObject(part)) throw invalidParams("a part of the message is no object");
    return part;
  });
}

function saidPart(part: JsonObject): TextPart | ImagePart | FilePart {
  const { text, raw, url, data, filename } = part;
  if (typeof text === "string") return { type: "text", text };
  if (data !== undefined) return { type: "text", text: JSON.stringify(data) };
  const mediaType = mediaTypeOf(part);
  const name = typeof filename === "string" && filename !== "" ? { name: filename.slice(0, 256) } : {};
  const from = typeof raw === "string" ? { data: raw } : typeof url === "string" ? { url: webAddress(url) } : undefined;
  if (from === undefined) throw invalidParams("a part has text, raw, url or data");
  return mediaType.startsWith("image/")
    ? { type: "image", mediaType, ...from }
    : { type: "file", mediaType, ...from, ...name };
}

function mediaTypeOf({ mediaType }: JsonObject): string {
  if (typeof mediaType !== "string" || mediaType === "") return "application/octet-stream";
  if (isMediaType(mediaType)) return mediaType;
  throw a2aError("CONTENT_TYPE_NOT_SUPPORTED", `"${mediaType.slice(0, 100)}" is no media type`);
}

function webAddress(url: string): string {
  if (url.startsWith("https://") || url.startsWith("http://")) return url;
  throw invalidParams("the url of a part begins with https://");
}

/** The message's texts, joined by line breaks. */
export const textOf = (message: JsonObject): string =>
  partsOf(message)
    .map(({ text }) => (typeof text === "string" ? text : ""))
    .filter((text) => text !== "")
    .join("\n");
