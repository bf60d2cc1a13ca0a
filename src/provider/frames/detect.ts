import type { Frame } from "../../core/ports/plugin.ts";
import type { Frames } from "./frames.ts";
import { JsonArrayFrames } from "./json-array.ts";
import { SseFrames } from "./lines.ts";

/** Leading bytes that do not decide the format: whitespace and a byte order mark. */
const undecided = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;

/** More leading whitespace than this must be an event stream's blank lines. */
const longest = 256;

/**
 * SSE, unless the body begins like JSON: Gemini without `alt=sse` streams one array, and some servers send a bare error object
 * labelled as an event stream.
 */
export class DetectedFrames implements Frames {
  readonly #limit: number;
  successor: Frames | undefined;
  #held: Uint8Array = new Uint8Array(0);

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(read: Uint8Array, out: Frame[]): void {
    if (this.successor !== undefined) return this.successor.push(read, out);
    const first = read.find((byte) => !undecided.has(byte));
    const start = this.#held.length === 0 ? read : Buffer.concat([this.#held, read]);
    if (first === undefined && start.length <= longest) {
      this.#held = Uint8Array.from(start);
      return;
    }
    this.successor = this.#choose(first);
    this.successor.push(start, out);
  }

  end(out: Frame[]): void {
    this.successor?.end(out);
  }

  #choose(first: number | undefined): Frames {
    const json = first === OPEN_BRACKET || first === OPEN_BRACE;
    return json ? new JsonArrayFrames(this.#limit) : new SseFrames(this.#limit);
  }
}
