import { keepOne } from "../../core/values/keep-one.ts";

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

  get capacity(): number {
    return this.#bytes.length;
  }

  /** Moves back to `at`, to overwrite what follows. */
  reset(at = 0): void {
    this.#at = at;
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

  /** A negative integer: two's complement in 64 bits. */
  negative(value: number): void {
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest > 127n; rest >>= 7n) this.byte(Number(rest & 127n) | 128);
    this.byte(Number(rest));
  }

  text(tag: number, text: string): void {
    this.byte(tag);
    if (text.length <= shortText && this.#ascii(text)) return;
    this.bytes(utf8.encode(text));
  }

  /** Length-prefixed. */
  bytes(bytes: Uint8Array): void {
    this.varint(bytes.length);
    this.raw(bytes);
  }

  /** An id in its hex form. */
  id(tag: number, hex: string): void {
    this.byte(tag);
    const size = hex.length >> 1;
    this.varint(size);
    let at = this.hole(size);
    for (let index = 0; index < size; index++) {
      const high = digit(hex.charCodeAt(2 * index));
      this.#bytes[at++] = (high << 4) | digit(hex.charCodeAt(2 * index + 1));
    }
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

  /** Opens a length-delimited field; its length takes `width` bytes (four allow 256 MB). */
  open(tag: number, width = 4): number {
    this.byte(tag);
    this.hole(width);
    return this.#at;
  }

  close(start: number, width = 4): void {
    this.#padded(start - width, width, this.#at - start);
  }

  putByte(at: number, value: number): void {
    this.#bytes[at] = value;
  }

  /** Up to 32 bits, padded to five bytes. */
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

  /** Writes nothing and returns false unless the text is ASCII. Faster than the native encoder for short texts. */
  #ascii(text: string): boolean {
    const { length } = text;
    this.#reserve(length + 1);
    const start = this.#at + 1;
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code > 127) return false;
      this.#bytes[start + index] = code;
    }
    this.#bytes[this.#at] = length;
    this.#at = start + length;
    return true;
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

const utf8 = new TextEncoder();

/** Short enough for a one-byte length. */
const shortText = 64;

/** The value of a lower- or upper-case hex digit. */
const digit = (code: number): number => (code & 15) + (code > 57 ? 9 : 0);
