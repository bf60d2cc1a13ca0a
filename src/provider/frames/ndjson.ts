import type { Frame } from "../../core/ports/plugin.ts";
import type { Frames } from "./frames.ts";
import { tooLarge } from "./held-bytes.ts";
import { Lines } from "./lines.ts";

/** One JSON text per line; blank lines are skipped, the last line needs no terminator. */
export class NdjsonFrames implements Frames {
  readonly #lines: Lines;
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
    this.#lines = new Lines(limit);
  }

  push(read: Uint8Array, out: Frame[]): void {
    this.#lines.push(read);
    this.#drain(out);
  }

  end(out: Frame[]): void {
    this.#lines.end();
    this.#drain(out);
  }

  #drain(out: Frame[]): void {
    for (let line = this.#lines.next(); line !== undefined; line = this.#lines.next()) {
      if (line.length > this.#limit) throw tooLarge(this.#limit);
      if (line.trim() !== "") out.push({ data: line, event: "" });
    }
  }
}
