import { keepOne } from "../../core/keep-one.ts";

/**
 * Writes protobuf in one pass. Lengths are not known in advance, so they get a fixed-width slot (varints may be padded) that is
 * filled in afterwards. The `put` methods fill slots.
 */
export class ProtobufWriter {
  #bytes: Uint8Array;
  #view: DataView;
  #at = 0;

  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity);
    this.#view = new DataView(this.#bytes.buffer);
    keepOne(this);
  }

  get at(): number {
    return this.#at;
  }

  /** The bytes written; valid until the next write. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#at);
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#at++] = value;
  }

  /** Returns the offset of the bytes. */
  raw(bytes: Uint8Array): number {
    this.#reserve(bytes.length);
    const start = this.#at;
    this.#bytes.set(bytes, start);
    this.#at += bytes.length;
    return start;
  }

  varint(value: number): void {
    this.#reserve(10);
    while (value > 127) {
      this.#bytes[this.#at++] = (value % 128) | 128;
      value = Math.floor(value / 128);
    }
    this.#bytes[this.#at++] = value;
  }

  text(tag: number, text: Uint8Array): void {
    this.byte(tag);
    this.varint(text.length);
    this.raw(text);
  }

  double(value: number): void {
    const hole = this.hole(8);
    this.putDouble(hole, value);
  }

  /** Reserves space for a value that is put later; returns its offset. */
  hole(size: number): number {
    this.#reserve(size);
    const start = this.#at;
    this.#at += size;
    return start;
  }

  /** Opens a length-delimited field; `width` bytes hold its length. */
  open(tag: number, width: number): number {
    this.byte(tag);
    this.hole(width);
    return this.#at;
  }

  close(start: number, width: number): void {
    this.#padded(start - width, width, this.#at - start);
  }

  putByte(at: number, value: number): void {
    this.#bytes[at] = value;
  }

  /** Up to 32 bits, in five bytes. */
  putVarint(at: number, value: number): void {
    this.#padded(at, 5, value);
  }

  putDouble(at: number, value: number): void {
    this.#view.setFloat64(at, value, true);
  }

  /** Big-endian, as in the hex form of ids. */
  putBig32(at: number, value: number): void {
    this.#view.setUint32(at, value >>> 0);
  }

  putFixed32(at: number, value: number): void {
    this.#view.setUint32(at, value >>> 0, true);
  }

  /** A 64-bit value as two halves; the lower one may have overflowed. */
  putFixed64(at: number, high: number, low: number): void {
    const carry = low >= 0x1_0000_0000 ? 1 : 0;
    this.#view.setUint32(at, low >>> 0, true);
    this.#view.setUint32(at + 4, (high + carry) >>> 0, true);
  }

  #padded(at: number, width: number, value: number): void {
    const last = at + width - 1;
    for (let index = at; index < last; index++) {
      this.#bytes[index] = (value & 127) | 128;
      value >>>= 7;
    }
    this.#bytes[last] = value;
  }

  #reserve(size: number): void {
    if (this.#at + size <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#at + size));
    larger.set(this.#bytes);
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}

/** Number and wire type of a field: 0 varint, 1 64-bit, 2 length-delimited, 5 32-bit. */
export const field = (number: number, wireType = 2): number => (number << 3) | wireType;

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
