import { type Part, VenturiError } from "venturi/plugin";

export const invalid = (message: string): VenturiError => new VenturiError("request.parse", "invalid_input", message);

/** An image as OpenAI spells it: a data URL, or an address that the provider (never this service) may open. */
export function imagePart(url: string): Part {
  const inline = /^data:([\w.+-]+\/[\w.+-]+);base64,(.*)$/s.exec(url);
  if (inline !== null) return { type: "image", mediaType: inline[1] ?? "", data: inline[2] ?? "" };
  if (!/^https?:\/\//.test(url)) throw invalid("an image is a data: or https: URL");
  return { type: "image", mediaType: "image/*", url };
}

/** The arguments of a call that a client sends back: what it was given, so a JSON object. */
export function callArguments(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = text === "" ? {} : JSON.parse(text);
  } catch {
    throw invalid("the arguments of a tool call are no JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid("the arguments of a tool call are no JSON object");
  }
  return value as Record<string, unknown>; // an object that is no array, by the checks above
}
