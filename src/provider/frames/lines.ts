import type { Frame } from "../../core/ports/plugin.ts";
import type { Frames } from "./frames.ts";
import { HeldBytes, tooLarge } from "./held-bytes.ts";
import { isReplaced, replacement } from "./not-utf8.ts";

const LF = 10;
const CR = 13;

/**
 * The complete lines of the read that is being framed, and how much of them is consumed. Shared by all streams: `#take` replaces them before
 * every `drain`, so that what a refused stream left is never another's. As fields of each stream they would cost write barriers: V8 records
 * each pointer from an old object to a new one.
 */
let text = "";
let position = 0;

/**
 * Bytes in, complete lines in between, frames out. A line ends with LF, CRLF or a lone CR, even if CR and LF arrive in different reads. Only
 * complete lines are decoded, so a read may end inside a character, and each read is decoded in one call. Each byte is visited
 * a constant number of times, however the input is split.
 */
abstract class LineFrames implements Frames {
  protected readonly limit: number;
  #replaced = false;
  readonly #held: HeldBytes;
  #first = true;
  #afterCr = false;

  constructor(limit: number) {
    this.limit = limit;
    this.#held = new HeldBytes(limit);
  }

  get replaced(): boolean {
    return this.#replaced || this.#held.replaced;
  }

  /** Turns the complete lines into frames. */
  protected abstract drain(out: Frame[]): void;

  push(read: Uint8Array, out: Frame[]): void {
    let start = 0;
    if (this.#afterCr && read.length > 0) {
      if (read[0] === LF) start = 1;
      this.#afterCr = false;
    }
    const last = lastLineEnd(read);
    if (last < start) {
      this.#held.append(start === 0 ? read : read.subarray(start));
      return;
    }
    this.#afterCr = last === read.length - 1 && read[last] === CR;
    if (this.#held.length > 0) {
      // Only the line that was begun: with all that was read, every such stream would hold a buffer as large as a read.
      const lineFeed = read.indexOf(LF, start);
      const end = (lineFeed < 0 || lineFeed > last ? last : lineFeed) + 1;
      this.#take(this.#held.take(read.subarray(start, end)));
      this.drain(out);
      start = end;
    }
    if (start <= last) {
      // Sockets already deliver Buffers; another view would cost as much as decoding a token.
      const bytes = Buffer.isBuffer(read) ? read : Buffer.from(read.buffer, read.byteOffset, read.length);
      const lines = bytes.toString("utf8", start, last + 1);
      if (lines.includes(replacement)) this.#replaced ||= isReplaced(lines, bytes.subarray(start, last + 1));
      this.#take(lines);
    }
    this.drain(out);
    if (last + 1 < read.length) this.#held.append(read.subarray(last + 1));
  }

  /** End of input: the rest counts as a line. */
  end(out: Frame[]): void {
    const rest = this.#held.take(new Uint8Array(0));
    this.#take(rest === "" ? "" : `${rest}\n`);
    this.drain(out);
  }

  /** The next complete line without its terminator; undefined when there is none. */
  protected next(): string | undefined {
    const start = position;
    if (start >= text.length) {
      text = ""; // Until the next read every garbage collection would copy it.
      position = 0;
      return undefined;
    }
    const end = text.indexOf("\n", start);
    position = end + 1;
    return text.slice(start, end);
  }

  /** The rest of the next line if it starts with `prefix` and an empty line follows; consumes both lines. */
  protected takeSingleLineEvent(prefix: string): string | undefined {
    const from = position + prefix.length;
    if (text.slice(position, from) !== prefix) return undefined;
    const end = text.indexOf("\n", from);
    if (text.charCodeAt(end + 1) !== LF) return undefined;
    position = end + 2;
    return text.slice(from, end);
  }

  #take(lines: string): void {
    text = lines.includes("\r") ? lines.replace(/\r\n?/g, "\n") : lines;
    position = 0;
    if (!this.#first || text === "") return;
    this.#first = false;
    if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
  }
}

/** Index of the last line end in a read, or -1. For a few bytes a loop beats a native call. */
function lastLineEnd(read: Uint8Array): number {
  if (read.length > 64) return Math.max(read.lastIndexOf(LF), read.lastIndexOf(CR));
  let at = read.length - 1;
  while (at >= 0 && read[at] !== LF && read[at] !== CR) at--;
  return at;
}

/**
 * Server-sent events as servers really write them: any line end, a byte order mark, comments, `data:` with or without a space,
 * several data lines, a last event without its blank line.
 */
export class SseFrames extends LineFrames {
  #event = "";
  #data: string | undefined;

  override end(out: Frame[]): void {
    super.end(out);
    this.#dispatch(out);
  }

  protected drain(out: Frame[]): void {
    for (;;) {
      // Fast path: nearly every event is one data line and a blank line.
      const data = this.#data === undefined && this.#event === "" ? this.takeSingleLineEvent("data: ") : undefined;
      if (data !== undefined) {
        if (data.length > this.limit) throw tooLarge(this.limit);
        out.push({ data, event: "" });
        continue;
      }
      const line = this.next();
      if (line === undefined) return;
      if (line === "") this.#dispatch(out);
      else this.#field(line);
    }
  }

  #dispatch(out: Frame[]): void {
    if (this.#data !== undefined) out.push({ data: this.#data, event: this.#event });
    this.#data = undefined;
    this.#event = "";
  }

  #field(line: string): void {
    if (line.startsWith("data")) {
      const value = valueAfter(line, 4);
      if (value !== undefined) this.#append(value);
    } else if (line.startsWith("event")) {
      this.#event = valueAfter(line, 5) ?? this.#event;
    }
    // Comments, `id`, `retry` and unknown fields are ignored.
  }

  #append(value: string): void {
    this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    if (this.#data.length > this.limit) throw tooLarge(this.limit);
  }
}

/** The field's value without the optional space after the colon; undefined when the field has a longer name. */
function valueAfter(line: string, name: number): string | undefined {
  if (line.length === name) return "";
  if (line.charCodeAt(name) !== 58) return undefined;
  return line.slice(line.charCodeAt(name + 1) === 32 ? name + 2 : name + 1);
}

/** One JSON text per line; blank lines are skipped, the last line needs no terminator. */
export class NdjsonFrames extends LineFrames {
  protected drain(out: Frame[]): void {
    for (let line = this.next(); line !== undefined; line = this.next()) {
      if (line.length > this.limit) throw tooLarge(this.limit);
      if (line.trim() !== "") out.push({ data: line, event: "" });
    }
  }
}
