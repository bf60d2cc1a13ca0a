import type { Frame } from "../../core/ports/plugin.ts";
import type { Frames } from "./frames.ts";
import { HeldBytes, tooLarge } from "./held-bytes.ts";

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/**
 * A JSON array that arrives in pieces: each object is a frame as soon as it closes. A bare object, which is how such servers
 * report an error, is a frame too.
 */
export class JsonArrayFrames implements Frames {
  readonly #held: HeldBytes;
  readonly #limit: number;
  #depth = 0;
  #inString = false;
  #escaped = false;

  constructor(limit: number) {
    this.#limit = limit;
    this.#held = new HeldBytes(limit);
  }

  get replaced(): boolean {
    return this.#held.replaced;
  }

  push(read: Uint8Array, out: Frame[]): void {
    let start = this.#depth > 0 ? 0 : -1;
    for (let i = 0; i < read.length; i++) {
      const byte = read[i];
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inString = false;
      } else if (byte === OPEN_BRACE) {
        if (this.#depth++ === 0) start = i;
      } else if (byte === CLOSE_BRACE && this.#depth > 0) {
        if (--this.#depth > 0) continue;
        const data = this.#held.take(read.subarray(start, i + 1));
        if (data.length > this.#limit) throw tooLarge(this.#limit);
        out.push({ data, event: "" });
        start = -1;
      } else if (byte === QUOTE && this.#depth > 0) {
        this.#inString = true;
      }
    }
    if (start >= 0) this.#held.append(read.subarray(start));
  }

  /** Passes a truncated object on unchanged; the decoder reports it. */
  end(out: Frame[]): void {
    if (this.#held.length > 0) out.push({ data: this.#held.take(new Uint8Array(0)), event: "" });
    this.#depth = 0;
  }
}
