import { randomBytes } from "node:crypto";
import { closeBrace, closeBracket, comma, endOfString, openBrace, openBracket, quote } from "./json-text.ts";

/** Random and replaced before the text leaves the process, so no value can pass for a placeholder. */
const placeholder = `venturi:${randomBytes(16).toString("hex")}:`;
const placeholders = new RegExp(`"${placeholder}(\\d+)"`, "g");

/** What a placeholder stands for: raw JSON, or a string to be encoded. */
export interface LeftOut {
  readonly text: string;
  readonly isJson: boolean;
}

/** Texts collected by the current `exactJson`; undefined when none is in progress. */
let met: string[] | undefined;

/**
 * A value with its original JSON text, which `exactJson` writes byte for byte, so that numbers, key order and whitespace stay as the vendor
 * wrote them. `JSON.stringify` writes its value.
 */
export class ExactJson {
  readonly text: string;

  /** `text` must be valid JSON. */
  constructor(text: string) {
    this.text = text;
  }

  toJSON(): unknown {
    return met === undefined ? JSON.parse(this.text) : placeholder + (met.push(this.text) - 1);
  }
}

/** `JSON.stringify`, but writes `ExactJson` values as their original text. */
export function exactJson(value: unknown): string {
  const texts: string[] = [];
  met = texts;
  try {
    const json = JSON.stringify(value);
    return texts.length === 0 ? json : json.replace(placeholders, (_, index) => texts[Number(index)] ?? "null");
  } finally {
    met = undefined;
  }
}

/** The value's JSON with strings of at least `long` characters left out: strings are JSON fragments, objects are what goes between them. */
export function jsonAround(value: unknown, long: number): (string | LeftOut)[] {
  const texts: string[] = [];
  met = texts;
  const strings = new Set<number>();
  const leaveOut = (_key: string, field: unknown): unknown => {
    if (typeof field !== "string" || field.length < long) return field;
    strings.add(texts.length);
    return placeholder + (texts.push(field) - 1);
  };
  try {
    const pieces: (string | LeftOut)[] = [];
    // The pattern has a capturing group, so every other piece is a placeholder's number.
    for (const [index, piece] of JSON.stringify(value, leaveOut).split(placeholders).entries()) {
      const number = Number(piece);
      if (index % 2 === 0) pieces.push(piece);
      else pieces.push({ text: texts[number] ?? "null", isJson: !strings.has(number) });
    }
    return pieces;
  } finally {
    met = undefined;
  }
}

/** Path to a value in a JSON text: keys and indexes from the root; `*` matches any. */
export type JsonPlace = readonly (string | number)[];

/**
 * The text of each value at this path, in order, without parsing. For a repeated key the last one counts, as in `JSON.parse`. The text must
 * be valid JSON; linear in its length, at any depth.
 */
export function textsAt(text: string, place: JsonPlace): Map<string, string> {
  const found = new Map<string, string>();
  new Walk(text, place, found).value(0, 0, []);
  return found;
}

export const textAt = (text: string, place: JsonPlace): string | undefined => textsAt(text, place).get(place.join("/"));

class Walk {
  readonly #text: string;
  readonly #place: JsonPlace;
  readonly #found: Map<string, string>;

  constructor(text: string, place: JsonPlace, found: Map<string, string>) {
    this.#text = text;
    this.#place = place;
    this.#found = found;
  }

  /** Reads the value that starts here, or after whitespace, and returns the position after it. */
  value(at: number, depth: number, path: readonly (string | number)[]): number {
    const start = this.#blank(at);
    const wanted = this.#place[depth];
    const first = this.#text.charCodeAt(start);
    if (wanted === undefined) {
      const end = this.#skip(start);
      // A copy: a slice would keep the whole text alive.
      this.#found.set(path.join("/"), Buffer.from(this.#text.slice(start, end)).toString());
      return end;
    }
    // A repeated key replaces whatever was found below it.
    if (first === openBrace) return this.#members(start + 1, wanted, path);
    return first === openBracket ? this.#items(start + 1, wanted, path) : this.#skip(start);
  }

  #members(from: number, wanted: string | number, path: readonly (string | number)[]): number {
    let at = this.#blank(from);
    while (this.#text.charCodeAt(at) === quote) {
      const end = this.#skip(at);
      const key = this.#key(at, end);
      const start = this.#blank(end) + 1;
      const matches = wanted === "*" || wanted === key;
      if (matches) this.#forget([...path, key]);
      at = this.#blank(matches ? this.value(start, path.length + 1, [...path, key]) : this.#skip(this.#blank(start)));
      if (this.#text.charCodeAt(at) === comma) at = this.#blank(at + 1);
    }
    return at + 1;
  }

  #items(from: number, wanted: string | number, path: readonly (string | number)[]): number {
    let at = this.#blank(from);
    for (let index = 0; at < this.#text.length && this.#text.charCodeAt(at) !== closeBracket; index++) {
      const matches = wanted === "*" || wanted === index;
      at = this.#blank(matches ? this.value(at, path.length + 1, [...path, index]) : this.#skip(at));
      if (this.#text.charCodeAt(at) === comma) at = this.#blank(at + 1);
    }
    return at + 1;
  }

  #forget(path: readonly (string | number)[]): void {
    if (this.#found.size === 0) return;
    const place = path.join("/");
    for (const known of this.#found.keys()) {
      if (known === place || known.startsWith(`${place}/`)) this.#found.delete(known);
    }
  }

  #key(at: number, end: number): string {
    const plain = this.#text.slice(at + 1, end - 1);
    return plain.includes("\\") ? String(JSON.parse(this.#text.slice(at, end))) : plain;
  }

  #blank(from: number): number {
    let at = from;
    for (let unit = this.#text.charCodeAt(at); unit <= 0x20; unit = this.#text.charCodeAt(++at));
    return at;
  }

  /** The position after the value that starts here. */
  #skip(start: number): number {
    const text = this.#text;
    const first = text.charCodeAt(start);
    if (first === quote) return endOfString(text, start);
    if (first !== openBrace && first !== openBracket) {
      let at = start;
      while (at < text.length && !/[\s,\]}]/.test(text[at] ?? "")) at++;
      return at;
    }
    let depth = 0;
    for (let at = start; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit === quote) at = endOfString(text, at) - 1;
      else if (unit === openBrace || unit === openBracket) depth++;
      else if ((unit === closeBrace || unit === closeBracket) && --depth === 0) return at + 1;
    }
    return text.length;
  }
}
