/** Accessors for untrusted JSON: a wrong type reads as empty, so wires need no checks. */
export type JsonRecord = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const empty: JsonRecord = Object.freeze({});

export const record = (value: unknown): JsonRecord => (isRecord(value) ? value : empty);
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Arguments sent back by a client: an object, or its JSON text. */
export function argumentsOf(value: unknown): JsonRecord {
  if (typeof value !== "string") return record(value);
  try {
    return record(JSON.parse(value));
  } catch {
    return empty;
  }
}

/** Text of content given as a string or a list of parts. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  return list(content)
    .map((part) => (typeof part === "string" ? part : text(record(part).text)))
    .join("");
}

/** A tool result of any shape, as text. */
export function resultText(content: unknown): string {
  const plain = contentText(content);
  if (plain !== "" || content === undefined || content === null || content === "") return plain;
  return JSON.stringify(content);
}
