import { VenturiError } from "../../core/errors/errors.ts";
import { isReplaced, replacement } from "./not-utf8.ts";

/** Bytes buffered until the rest arrives. Capacity doubles when full, so buffering n bytes is O(n). */
export class HeldBytes {
  readonly #limit: number;
  #room = Buffer.alloc(0);
  length = 0;
  /** See `Frames.replaced`. */
  replaced = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  append(bytes: Uint8Array): void {
    if (this.length + bytes.length > this.#limit) throw tooLarge(this.#limit);
    this.#add(bytes);
  }

  /** Everything held plus `bytes`, as text; empties the buffer. */
  take(bytes: Uint8Array): string {
    this.#add(bytes);
    const text = this.#room.toString("utf8", 0, this.length);
    if (text.includes(replacement)) this.replaced ||= isReplaced(text, this.#room.subarray(0, this.length));
    this.length = 0;
    // One huge event must not pin its buffer for the rest of the stream.
    if (this.#room.length > 1 << 20) this.#room = Buffer.alloc(0);
    return text;
  }

  #add(bytes: Uint8Array): void {
    const length = this.length + bytes.length;
    if (length > this.#room.length) {
      const room = Buffer.allocUnsafeSlow(Math.max(1024, length, this.#room.length * 2));
      this.#room.copy(room, 0, 0, this.length);
      this.#room = room;
    }
    if (bytes.length === 1) this.#room[this.length] = bytes[0] ?? 0;
    else this.#room.set(bytes, this.length);
    this.length = length;
  }
}

export function tooLarge(limit: number): VenturiError {
  return new VenturiError("stream.frame", "too_large", `one event is larger than ${limit} bytes; raise maxEvent`, {
    details: { limit },
  });
}
