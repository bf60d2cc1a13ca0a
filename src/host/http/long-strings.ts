import { randomBytes } from "node:crypto";
import { StringDecoder } from "node:string_decoder";
import { VenturiError } from "../../core/errors/errors.ts";

const quote = 0x22;
const backslash = 0x5c;
/** Strings of this many bytes or more are taken out of the text. */
const long = 64 * 1024;
/** A client cannot guess it, so no string of a body can pass for a placeholder. */
const placeholder = `venturi:${randomBytes(16).toString("hex")}:`;
const placeholders = new RegExp(`"${placeholder}\\d+"`, "g");
/** Not allowed in a JSON string unless escaped. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const control = /[\u0000-\u001f]/;

/**
 * Takes the long strings out of JSON while its bytes arrive, so that a body with a file is never one text that is parsed in
 * one turn. What remains is a small JSON text with placeholders. Strings with escapes stay in it.
 */
export class LongStrings {
  readonly #strings: string[] = [];
  readonly #decoder = new StringDecoder("utf8");
  #text = "";
  #inString = false;
  #escaped = false;
  /** The open string has no escapes so far. */
  #plain = true;
  /** Earlier chunks' part of the open string, and its length in bytes. */
  #value: string | undefined;
  #bytes = 0;

  push(chunk: Buffer): void {
    /** Start of what is neither in the text nor in the open string's value. */
    let from = 0;
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (!this.#inString) {
        if (byte !== quote) continue;
        this.#inString = this.#plain = true;
        start = at + 1;
      } else if (this.#escaped) this.#escaped = false;
      else if (byte === backslash) {
        this.#escaped = true;
        this.#plain = false;
      } else if (byte === quote) {
        this.#inString = false;
        const isLong = this.#plain && this.#bytes + at - start >= long;
        if (this.#value === undefined && !isLong) continue; // stays in the text around it
        if (this.#value === undefined) this.#text += this.#decode(chunk.subarray(from, start - 1));
        this.#close(chunk.subarray(start, at));
        from = at + 1;
      }
    }
    if (!this.#inString) this.#text += this.#decoder.write(chunk.subarray(from));
    else {
      if (this.#value === undefined) this.#text += this.#decode(chunk.subarray(from, start - 1));
      this.#extend(chunk.subarray(start));
    }
  }

  /** The text without its long strings; `restore` puts them back into what was parsed from it. */
  end(): string {
    // An unclosed string is left to the parser to refuse.
    if (this.#value !== undefined) this.#text += `"${this.#value}`;
    return this.#text + this.#decoder.end();
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
    const text = this.#decoder.write(piece);
    if (control.test(text)) throw new VenturiError("request.parse", "invalid_input", "this is not valid JSON");
    this.#value = (this.#value ?? "") + text;
    this.#bytes += piece.length;
  }

  #close(piece: Buffer): void {
    this.#extend(piece);
    const value = this.#value + this.#decoder.end();
    if (this.#plain && this.#bytes >= long) {
      this.#text += `"${placeholder}${this.#strings.length}"`;
      this.#strings.push(value);
    } else this.#text += `"${value}"`;
    this.#value = undefined;
    this.#bytes = 0;
  }

  /** Whole characters only: a quote follows. */
  #decode(bytes: Buffer): string {
    return this.#decoder.write(bytes) + this.#decoder.end();
  }
}
