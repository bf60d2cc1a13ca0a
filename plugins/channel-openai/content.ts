import { type Effort, efforts, type ImagePart, type Part, VenturiError } from "venturi/plugin";

export const invalid = (message: string): VenturiError => new VenturiError("request.parse", "invalid_input", message);

/** An image as OpenAI spells it: a data URL, or an address that the provider (never this service) may open. */
export function imagePart(url: string): ImagePart {
  const inline = /^data:([\w.+-]+\/[\w.+-]+);base64,(.*)$/s.exec(url);
  if (inline !== null) return { type: "image", mediaType: inline[1] ?? "", data: inline[2] ?? "" };
  if (!/^https?:\/\//.test(url)) throw invalid("an image is a data: or https: URL");
  return { type: "image", mediaType: "image/*", url };
}

/** The arguments of a call that a client sends back; undefined when they are no JSON object. */
export function callArguments(text: string): Record<string, unknown> | undefined {
  if (text === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined; // an object that is no array
  } catch {
    return undefined;
  }
}

/** The parameters of a tool that takes free text. */
export const freeText = { type: "object", properties: { input: { type: "string" } }, required: ["input"] };

/** What a tool said: its text in one, and its images. */
export function resultParts(parts: readonly Part[]): { output: string; images?: ImagePart[] } {
  const output = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  const images = parts.filter((part) => part.type === "image");
  return images.length === 0 ? { output } : { output, images };
}

/** An effort that every provider can be told; the vendor may know more. */
export const effortOf = (effort: string | null | undefined): Effort | undefined =>
  efforts.find((known) => known === effort);
