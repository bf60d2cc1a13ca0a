/**
 * Writes protobuf in one pass. Lengths are not known beforehand, so their place is kept with a fixed width (a varint may be
 * padded) and filled in afterwards.
 */
export class ProtobufWriter {
  #bytes: Uint8Array;
  #view: DataView;
  #at = 0;

  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity);
    this.#view = new DataView(this.#bytes.buffer);
  }

  /** What was written; valid until the next write. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#at);
  }

  /** Makes room for `size` more bytes; everything below relies on it having been called. */
  reserve(size: number): void {
    if (this.#at + size <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#at + size));
    larger.set(this.#bytes);
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }

  byte(value: number): void {
    this.#bytes[this.#at++] = value;
  }

  raw(bytes: Uint8Array): void {
    const { length } = bytes;
    // A loop beats `set` for the short names and ids that this is used for.
    for (let index = 0; index < length; index++) this.#bytes[this.#at + index] = bytes[index] ?? 0;
    this.#at += length;
  }

  varint(value: number): void {
    while (value > 127) {
      this.#bytes[this.#at++] = (value % 128) | 128;
      value = Math.floor(value / 128);
    }
    this.#bytes[this.#at++] = value;
  }

  double(value: number): void {
    this.#view.setFloat64(this.#at, value, true);
    this.#at += 8;
  }

  fixed32(value: number): void {
    this.#view.setUint32(this.#at, value >>> 0, true);
    this.#at += 4;
  }

  /** Big-endian halves, as ids are spelled. */
  id(high: number, low: number): void {
    this.#view.setUint32(this.#at, high >>> 0);
    this.#view.setUint32(this.#at + 4, low >>> 0);
    this.#at += 8;
  }

  /** A 64-bit value given by its halves, of which the lower may have overflowed. */
  fixed64(high: number, low: number): void {
    const carry = low >= 0x1_0000_0000 ? 1 : 0;
    this.#view.setUint32(this.#at, low >>> 0, true);
    this.#view.setUint32(this.#at + 4, (high + carry) >>> 0, true);
    this.#at += 8;
  }

  /** Opens a length-delimited field; `width` bytes hold its length. */
  open(tag: number, width: number): number {
    this.#bytes[this.#at++] = tag;
    this.#at += width;
    return this.#at;
  }

  close(start: number, width: number): void {
    let length = this.#at - start;
    for (let index = start - width; index < start - 1; index++) {
      this.#bytes[index] = (length & 127) | 128;
      length >>>= 7;
    }
    this.#bytes[start - 1] = length;
  }
}
