import { exactJson, jsonAround } from "./exact-json.ts";
import { inSlices } from "./in-slices.ts";
import { recordLimits } from "./value-limits.ts";

/** Values with more text are encoded in slices: 31 MiB take a tenth of a second. */
const large = 256 * 1024;
/** Texts of at least this length are encoded separately. */
const long = 4 * 1024;
const slice = 64 * 1024;

/** `exactJson`; large values are encoded as pieces, in time slices. */
export const exactJsonBytes = (value: unknown): string | Promise<Buffer[]> =>
  hasMuchText(value) ? inSlices(encode(value)) : exactJson(value);

function hasMuchText(value: unknown): boolean {
  let characters = 0;
  const open: unknown[] = [value];
  // Bounded: a cyclic value never ends, and encoding reports it.
  for (let seen = 0; open.length > 0 && seen < recordLimits.nodes; seen++) {
    const next = open.pop();
    if (typeof next === "string") {
      characters += next.length;
      if (characters > large) return true;
    } else if (Array.isArray(next)) {
      // Not by keys: V8 discards the loop's compiled code whenever it meets an array after an object, twice per request.
      for (let index = 0; index < next.length; index++) open.push(next[index]);
    } else if (typeof next === "object" && next !== null) {
      const fields = next as Record<string, unknown>; // An object.
      for (const name in fields) open.push(fields[name]);
    }
  }
  return false;
}

function* encode(value: unknown): Generator<void, Buffer[]> {
  const bytes: Buffer[] = [];
  for (const piece of jsonAround(value, long)) {
    const { text, isJson } = typeof piece === "string" ? { text: piece, isJson: true } : piece;
    if (!isJson) bytes.push(quote);
    for (const slice of sliced(text)) {
      bytes.push(Buffer.from(isJson ? slice : JSON.stringify(slice).slice(1, -1)));
      yield;
    }
    if (!isJson) bytes.push(quote);
  }
  return bytes;
}

const quote = Buffer.from('"');

/** Slices of a text that split no character. */
export function* sliced(text: string, size = slice): Generator<string> {
  for (let at = 0; at < text.length; ) {
    let end = at + size;
    if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1;
    yield text.slice(at, end);
    at = end;
  }
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;
