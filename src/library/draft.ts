import { valueLimits } from "../core/values/value-limits.ts";

type Container = Record<string, unknown> | unknown[];

/** `value`: a value is expected. `after`: a value was completed. */
type State = "prefix" | "value" | "key" | "colon" | "after" | "string" | "keyString" | "scalar" | "done" | "invalid";

const fence = /^\s*(?:```(?:json)?\s*)?$/;
const escapes: Readonly<Record<string, string>> = {
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  "/": "/",
  "\\": "\\",
  '"': '"',
};
const literals: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

/**
 * Builds an object from JSON that is still being written, in linear time: each character is visited once, and one object grows. Strings
 * grow as they arrive; numbers and literals appear when complete, because `1` may become `12`. Skips a code fence before the JSON; other
 * text yields nothing.
 */
export class DraftParser {
  #state: State = "prefix";
  #prefix = "";
  readonly #open: { readonly value: Container; key: string }[] = [];
  #root: unknown;
  /** The string or scalar being read. */
  #text = "";
  #escape: string | undefined;
  #changed = false;

  /** The object so far; undefined before it begins. */
  get root(): unknown {
    return this.#root;
  }

  /** Returns whether the object changed. */
  push(text: string): boolean {
    this.#changed = false;
    let at = 0;
    while (at < text.length && this.#state !== "done" && this.#state !== "invalid") {
      const next = this.#step(text, at);
      at = next;
    }
    // Once per piece, not per character: a long string arrives in many pieces.
    if (this.#state === "string") this.#set(this.#text);
    return this.#changed;
  }

  #step(text: string, at: number): number {
    switch (this.#state) {
      case "string":
      case "keyString":
        return this.#string(text, at);
      case "scalar":
        return this.#scalar(text, at);
      case "prefix":
        return this.#begin(text, at);
      default:
        this.#structure(text[at] ?? "");
        return at + 1;
    }
  }

  #begin(text: string, at: number): number {
    const start = text.slice(at).search(/[[{]/);
    this.#prefix += start < 0 ? text.slice(at) : text.slice(at, at + start);
    if (this.#prefix.length > 64 || (start >= 0 && !fence.test(this.#prefix))) this.#state = "invalid";
    if (start < 0 || this.#state === "invalid") return text.length;
    this.#structure(text[at + start] ?? "");
    return at + start + 1;
  }

  #structure(char: string): void {
    if (char === " " || char === "\n" || char === "\r" || char === "\t") return;
    const inside = this.#open.at(-1)?.value;
    switch (this.#state) {
      case "prefix":
      case "value":
        if (char === "]" && Array.isArray(inside) && inside.length === 0) return this.#close();
        return this.#value(char);
      case "key":
        if (char === "}" && inside !== undefined && Object.keys(inside).length === 0) return this.#close();
        return char === '"' ? this.#begins("keyString") : this.#fail();
      case "colon":
        return char === ":" ? this.#begins("value") : this.#fail();
      default: {
        const isList = Array.isArray(inside);
        if (char === ",") return this.#begins(isList ? "value" : "key");
        return char === (isList ? "]" : "}") ? this.#close() : this.#fail();
      }
    }
  }

  #value(char: string): void {
    if (char === "{" || char === "[") {
      if (this.#open.length >= valueLimits.depth) return this.#fail();
      const value: Container = char === "{" ? {} : [];
      this.#set(value);
      this.#open.push({ value, key: "" });
      return this.#begins(char === "{" ? "key" : "value");
    }
    if (char === '"') return this.#begins("string");
    this.#begins("scalar");
    this.#text = char;
  }

  #string(text: string, at: number): number {
    if (this.#escape !== undefined) return this.#escaped(text[at] ?? "", at);
    let end = at;
    while (end < text.length && text[end] !== '"' && text[end] !== "\\") end++;
    this.#text += text.slice(at, end);
    if (end === text.length) return end;
    if (text[end] === "\\") this.#escape = "";
    else this.#endString();
    return end + 1;
  }

  #escaped(char: string, at: number): number {
    const before = this.#escape ?? "";
    if (before === "" && char !== "u") {
      const meant = escapes[char];
      if (meant === undefined) this.#fail();
      else this.#text += meant;
      this.#escape = undefined;
    } else {
      const code = before + char;
      this.#escape = code.length < 5 ? code : undefined;
      if (code.length === 5 && /^u[0-9a-fA-F]{4}$/.test(code)) {
        this.#text += String.fromCharCode(Number.parseInt(code.slice(1), 16));
      } else if (code.length === 5) this.#fail();
    }
    return at + 1;
  }

  #endString(): void {
    if (this.#state === "string") {
      this.#set(this.#text);
      return this.#begins("after");
    }
    const open = this.#open.at(-1);
    if (open !== undefined) open.key = this.#text;
    this.#begins("colon");
  }

  #scalar(text: string, at: number): number {
    const char = text[at] ?? "";
    if (/[-+.0-9A-Za-z]/.test(char) && this.#text.length < 64) {
      this.#text += char;
      return at + 1;
    }
    const value = literals.has(this.#text) ? literals.get(this.#text) : Number(this.#text);
    if (Number.isNaN(value)) this.#fail();
    else {
      this.#set(value);
      this.#begins("after");
    }
    return at;
  }

  #set(value: unknown): void {
    const open = this.#open.at(-1);
    if (open === undefined) this.#root = value;
    else if (!Array.isArray(open.value)) define(open.value, open.key, value);
    else if (this.#isPlaced) open.value[open.value.length - 1] = value;
    else open.value.push(value);
    this.#isPlaced = this.#state === "string";
    this.#changed = true;
  }

  /** The string being read is already in its list. */
  #isPlaced = false;

  #begins(state: State): void {
    if (state === "after") this.#isPlaced = false;
    if (state === "string" || state === "keyString") this.#text = "";
    this.#state = state;
  }

  #close(): void {
    this.#open.pop();
    this.#changed = true;
    this.#state = this.#open.length === 0 ? "done" : "after";
  }

  #fail(): void {
    this.#state = "invalid";
  }
}

/** Not an assignment: `__proto__` would set the prototype. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}
