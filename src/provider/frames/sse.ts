import type { Frame } from "../../core/ports/plugin.ts";
import type { Frames } from "./frames.ts";
import { tooLarge } from "./held-bytes.ts";
import { Lines } from "./lines.ts";

/**
 * Server-sent events as servers really write them: any line end, a byte order mark, comments, `data:` with or without a space,
 * several data lines, a last event without its blank line.
 */
export class SseFrames implements Frames {
  readonly #lines: Lines;
  readonly #limit: number;
  #event = "";
  #data: string | undefined;

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
    this.#dispatch(out);
  }

  #drain(out: Frame[]): void {
    for (;;) {
      // Fast path: nearly every event is one data line and a blank line.
      const data =
        this.#data === undefined && this.#event === "" ? this.#lines.takeSingleLineEvent("data: ") : undefined;
      if (data !== undefined) {
        if (data.length > this.#limit) throw tooLarge(this.#limit);
        out.push({ data, event: "" });
        continue;
      }
      const line = this.#lines.next();
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
    if (this.#data.length > this.#limit) throw tooLarge(this.#limit);
  }
}

/** The field's value without the optional space after the colon; undefined when the field has a longer name. */
function valueAfter(line: string, name: number): string | undefined {
  if (line.length === name) return "";
  if (line.charCodeAt(name) !== 58) return undefined;
  return line.slice(line.charCodeAt(name + 1) === 32 ? name + 2 : name + 1);
}
