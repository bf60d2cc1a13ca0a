import { isUtf8 } from "node:buffer";

/** Longest start of a character that a chunk may end with. */
const longestStart = 3;
const nothing = Buffer.alloc(0);

/** Whether bytes that arrive in chunks are UTF-8. A chunk may end within a character. */
export class Utf8Check {
  /** Start of a character that the next chunk goes on with. */
  #open: Buffer = nothing;

  /** False as soon as the bytes cannot be UTF-8 any more. */
  take(chunk: Buffer): boolean {
    const bytes = this.#open.length === 0 ? chunk : Buffer.concat([this.#open, chunk]);
    const whole = bytes.length - openAt(bytes);
    this.#open = Buffer.from(bytes.subarray(whole)); // A copy, which does not keep the chunk.
    return isUtf8(bytes.subarray(0, whole));
  }

  get isWhole(): boolean {
    return this.#open.length === 0;
  }
}

/** How many bytes at the end are the start of a character. */
function openAt(bytes: Buffer): number {
  for (let count = 1; count <= Math.min(longestStart, bytes.length); count++) {
    const byte = bytes[bytes.length - count] as number; // Within the bytes.
    if ((byte & 0xc0) === 0x80) continue;
    return count < lengthOf(byte) ? count : 0;
  }
  return 0;
}

const lengthOf = (first: number): number => (first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1);
