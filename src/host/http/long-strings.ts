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
/** Random, so that no string in a body can pass for a placeholder. */
const placeholder = `venturi:${randomBytes(16).toString("hex")}:`;
const placeholders = new RegExp(`"${placeholder}\\d+"`, "g");
/** Not allowed in a JSON string unless escaped. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: matching control characters is the purpose
const control = /[\u0000-\u001f]/;
const nothing = Buffer.alloc(0);
/** Maximum length of a key. V8 hashes and retains every key; 20 MiB take a tenth of a second. */
const longestKey = 1024 ** 2;
/**
 * Maximum characters outside the long strings, which are parsed, validated and stored in one go: 4 MiB take 30 ms, and hold a million
 * tokens.
 */
const mostBeside = 4 * 1024 ** 2;

/**
 * Extracts long strings from JSON while its bytes arrive, so that a body containing a file is never parsed as one text in one turn. What
 * remains is a small JSON text with placeholders.
 */
export class LongStrings {
  readonly #strings: string[] = [];
  readonly #decoder = new StringDecoder("utf8");
  #text = "";
  #inString = false;
  /** The open string as sent, and its decoded value once it is long. */
  #raw = "";
  #value: string | undefined;
  #bytes = 0;
  /** An escape sequence that is not complete yet. */
  #held: Buffer = nothing;

  push(arrived: Buffer): void {
    const chunk = this.#held.length === 0 ? arrived : Buffer.concat([this.#held, arrived]);
    this.#held = nothing;
    const quotes = new Places(chunk, quote);
    const escapes = new Places(chunk, backslash);
    /** Start of the bytes that are neither in the text nor in the open string yet. */
    let from = 0;
    let at = 0;
    while (at < chunk.length) {
      const next = quotes.from(at);
      if (!this.#inString) {
        if (next === chunk.length) break;
        at = next + 1;
        const end = quotes.from(at);
        // Most strings are short and stay in the text.
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

  /** The text with placeholders; `restore` puts the long strings back into the parsed value. */
  end(): string {
    // The parser rejects the unclosed string.
    if (this.#inString) return '"';
    return this.#text + this.#decoder.end();
  }

  /** Flattens each long string in turns shared with others: 31 MiB take 20 ms, which the first reader would otherwise spend at once. */
  async flatten(): Promise<void> {
    if (this.#strings.length > 0) await inSlices(flattened(this.#strings));
  }

  /** Replaces the placeholders in a parsed value, in place. */
  restore(root: unknown): unknown {
    if (this.#strings.length === 0) return root;
    const holder: Record<string, unknown> = { root };
    const open: object[] = [holder];
    for (let value = open.pop(); value !== undefined; value = open.pop()) {
      const fields = value as Record<string, unknown>; // Array indexes are keys too.
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

  /** Replaces the placeholders in a piece of the text by JSON of the same meaning. */
  restoreText(piece: string): string {
    if (!piece.includes(placeholder)) return piece;
    return piece.replace(placeholders, (found) => JSON.stringify(this.#restored(found.slice(1, -1))));
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

  /** Only complete characters: a quote follows. */
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

/** Positions of a byte in a chunk, for queries in ascending order; each position is searched once. */
class Places {
  readonly #chunk: Buffer;
  readonly #byte: number;
  #known = -1;

  constructor(chunk: Buffer, byte: number) {
    this.#chunk = chunk;
    this.#byte = byte;
  }

  /** The first position from here on; the chunk's length if there is none. */
  from(at: number): number {
    if (this.#known >= at) return this.#known;
    const found = this.#chunk.indexOf(this.#byte, at);
    this.#known = found < 0 ? this.#chunk.length : found;
    return this.#known;
  }
}

/** Decodes a piece of a JSON string that does not split an escape. */
function meaningOf(text: string): string {
  try {
    if (text.includes("\\")) return JSON.parse(`"${text}"`) as string; // The JSON of a string.
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
