import { HeldBytes } from "./held-bytes.ts";

const LF = 10;
const CR = 13;

/**
 * Bytes in, complete lines out. A line ends with LF, CRLF or a lone CR, even if CR and LF arrive in different reads. Only
 * complete lines are decoded, so a read may end inside a character, and each read is decoded in one call. Each byte is visited
 * a constant number of times, however the input is split.
 */
export class Lines {
  readonly #held: HeldBytes;
  #text = "";
  #position = 0;
  #first = true;
  #afterCr = false;

  constructor(limit: number) {
    this.#held = new HeldBytes(limit);
  }

  push(read: Uint8Array): void {
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
    if (this.#held.length > 0) this.#take(this.#held.take(read.subarray(start, last + 1)));
    else {
      // Sockets already deliver Buffers; another view would cost as much as decoding a token.
      const bytes = Buffer.isBuffer(read) ? read : Buffer.from(read.buffer, read.byteOffset, read.length);
      this.#take(bytes.toString("utf8", start, last + 1));
    }
    if (last + 1 < read.length) this.#held.append(read.subarray(last + 1));
  }

  /** End of input: the rest counts as a line. */
  end(): void {
    const text = this.#held.take(new Uint8Array(0));
    if (text !== "") this.#take(`${text}\n`);
  }

  /** The next complete line without its terminator; undefined when there is none. */
  next(): string | undefined {
    const text = this.#text;
    const position = this.#position;
    if (position >= text.length) {
      // Drop the consumed text: until the next read every garbage collection would copy it.
      this.#text = "";
      this.#position = 0;
      return undefined;
    }
    const end = text.indexOf("\n", position);
    this.#position = end + 1;
    return text.slice(position, end);
  }

  /** The rest of the next line if it starts with `prefix` and an empty line follows; consumes both lines. */
  takeSingleLineEvent(prefix: string): string | undefined {
    const text = this.#text;
    const from = this.#position + prefix.length;
    if (text.slice(this.#position, from) !== prefix) return undefined;
    const end = text.indexOf("\n", from);
    if (text.charCodeAt(end + 1) !== LF) return undefined;
    this.#position = end + 2;
    return text.slice(from, end);
  }

  /** Bytes of the incomplete line. */
  get pending(): number {
    return this.#held.length;
  }

  #take(text: string): void {
    let whole = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
    if (this.#first) {
      this.#first = false;
      if (whole.charCodeAt(0) === 0xfeff) whole = whole.slice(1);
    }
    this.#text = this.#position < this.#text.length ? this.#text.slice(this.#position) + whole : whole;
    this.#position = 0;
  }
}

/** Index of the last line end in a read, or -1. For a few bytes a loop beats a native call. */
function lastLineEnd(read: Uint8Array): number {
  if (read.length > 64) return Math.max(read.lastIndexOf(LF), read.lastIndexOf(CR));
  let at = read.length - 1;
  while (at >= 0 && read[at] !== LF && read[at] !== CR) at--;
  return at;
}
