import { randomBytes } from "node:crypto";
import { StringDecoder } from "node:string_decoder";
import { VenturiError } from "../../core/errors/errors.ts";
import { flatten } from "../../core/values/flat-text.ts";
import { inSlices } from "../../core/values/in-slices.ts";

const quote = 0x22;
const backslash = 0x5c;
const unicode = 0x75;
/** Strings of this many bytes or more are taken out of the text. */
const long = 4 * 1024;
/** A client cannot guess it, so no string of a body can pass for a placeholder. */
const placeholder = `venturi:${randomBytes(16).toString("hex")}:`;
const placeholders = new RegExp(`"${placeholder}\\d+"`, "g");
/** Not allowed in a JSON string unless escaped. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const control = /[\u0000-\u001f]/;
const nothing = Buffer.alloc(0);
/** V8 hashes and keeps every key; 20 MiB take a tenth of a second. */
const longestKey = 1024 ** 2;
/** Characters besides the long strings. They are parsed, validated and stored as a whole: 4 MiB take 30 ms, and are a million tokens. */
const mostBeside = 4 * 1024 ** 2;

/**
 * Takes the long strings out of JSON while its bytes arrive, so that a body with a file is never one text that is parsed in
 * one turn. What remains is a small JSON text with placeholders.
 */
export class LongStrings {
  readonly #strings: string[] = [];
  readonly #decoder = new StringDecoder("utf8");
  #text = "";
  #inString = false;
  /** Of the open string, as it was sent; what it means, once it is long. */
  #raw = "";
  #value: string | undefined;
  #bytes = 0;
  /** An escape whose end has not arrived. */
  #held: Buffer = nothing;

  push(arrived: Buffer): void {
    const chunk = this.#held.length === 0 ? arrived : Buffer.concat([this.#held, arrived]);
    this.#held = nothing;
    const quotes = new Places(chunk, quote);
    const escapes = new Places(chunk, backslash);
    /** Start of what is neither in the text nor in the open string. */
    let from = 0;
    let at = 0;
    while (at < chunk.length) {
      const next = quotes.from(at);
      if (!this.#inString) {
        if (next === chunk.length) break;
        at = next + 1;
        const end = quotes.from(at);
        // Most strings are short, and stay in the text around them.
        if (end < chunk.length && end - at < long && escapes.from(at) > end) at = end + 1;
        else {
          this.#inString = true;
          this.#text += this.#decode(chunk.subarray(from, next));
          from = at;
        }
        continue;
      }
      const escaped = escapes.from(at);
      if (escaped < next) {
        at = escaped + (chunk[escaped + 1] === unicode ? 6 : 2);
        if (at <= chunk.length) continue;
        this.#held = chunk.subarray(escaped);
        this.#extend(chunk.subarray(from, escaped));
        return;
      }
      if (next === chunk.length) break;
      this.#close(chunk.subarray(from, next));
      from = at = next + 1;
    }
    if (this.#inString) this.#extend(chunk.subarray(from));
    else this.#text += this.#decoder.write(chunk.subarray(from));
    if (this.#text.length > mostBeside) throw tooMuchBeside();
  }

  /** The text without its long strings; `restore` puts them back into what was parsed from it. */
  end(): string {
    // An unclosed string is left to the parser to refuse.
    if (this.#inString) return '"';
    return this.#text + this.#decoder.end();
  }

  /** Makes each long string one text, by turns with others': 31 MiB take 20 ms, which the first reader would spend otherwise. */
  async settle(): Promise<void> {
    if (this.#strings.length > 0) await inSlices(flattened(this.#strings));
  }

  /** Replaces the placeholders in a parsed value, in place. */
  restore(root: unknown): unknown {
    if (this.#strings.length === 0) return root;
    const holder: Record<string, unknown> = { root };
    const open: object[] = [holder];
    for (let value = open.pop(); value !== undefined; value = open.pop()) {
      const fields = value as Record<string, unknown>; // an array's indexes are keys, too
      for (const key of Object.keys(fields)) {
        const field = fields[key];
        const name = this.#restored(key);
        if (name.length > longestKey) throw longKey();
        if (name !== key) delete fields[key];
        if (typeof field === "string") fields[name] = this.#restored(field);
        else if (name !== key) fields[name] = field;
        if (typeof field === "object" && field !== null) open.push(field);
      }
    }
    return holder.root;
  }

  /** Replaces the placeholders in a piece of the text. */
  restoreText(piece: string): string {
    if (!piece.includes(placeholder)) return piece;
    return piece.replace(placeholders, (found) => `"${this.#restored(found.slice(1, -1))}"`);
  }

  #restored(text: string): string {
    return text.startsWith(placeholder) ? (this.#strings[Number(text.slice(placeholder.length))] ?? text) : text;
  }

  /** Adds to the open string. */
  #extend(piece: Buffer): void {
    this.#bytes += piece.length;
    const text = this.#decoder.write(piece);
    if (this.#value !== undefined) this.#value += meaningOf(text);
    else {
      this.#raw += text;
      if (this.#bytes < long) return;
      this.#value = meaningOf(this.#raw);
      this.#raw = "";
    }
  }

  #close(piece: Buffer): void {
    this.#extend(piece);
    const rest = this.#decoder.end();
    if (this.#value === undefined) this.#text += `"${this.#raw}${rest}"`;
    else {
      this.#text += `"${placeholder}${this.#strings.length}"`;
      this.#strings.push(this.#value + rest);
    }
    this.#inString = false;
    this.#value = undefined;
    this.#raw = "";
    this.#bytes = 0;
  }

  /** Whole characters only: a quote follows. */
  #decode(bytes: Buffer): string {
    return this.#decoder.write(bytes) + this.#decoder.end();
  }
}

function* flattened(strings: readonly string[]): Generator<void, void> {
  for (const text of strings) {
    flatten(text);
    yield;
  }
}

/** Where a byte is in a chunk, looked for once: asked for positions that only grow. */
class Places {
  readonly #chunk: Buffer;
  readonly #byte: number;
  #known = -1;

  constructor(chunk: Buffer, byte: number) {
    this.#chunk = chunk;
    this.#byte = byte;
  }

  /** The first one from here on; the chunk's length when there is none. */
  from(at: number): number {
    if (this.#known >= at) return this.#known;
    const found = this.#chunk.indexOf(this.#byte, at);
    this.#known = found < 0 ? this.#chunk.length : found;
    return this.#known;
  }
}

/** What a part of a JSON string says. No escape is cut. */
function meaningOf(text: string): string {
  try {
    if (text.includes("\\")) return JSON.parse(`"${text}"`) as string; // a string's JSON
  } catch (thrown) {
    throw invalid(thrown);
  }
  if (control.test(text)) throw invalid();
  return text;
}

const tooMuchBeside = (): VenturiError =>
  new VenturiError(
    "request.parse",
    "too_large",
    `the body holds more than ${mostBeside / 1024 ** 2} MiB besides its texts of ${long / 1024} KiB and more; join short texts`,
  );

const longKey = (): VenturiError =>
  new VenturiError("request.parse", "invalid_input", "a key of the body is longer than 1 MiB");

const invalid = (cause?: unknown): VenturiError =>
  new VenturiError("request.parse", "invalid_input", "this is not valid JSON", { cause });
