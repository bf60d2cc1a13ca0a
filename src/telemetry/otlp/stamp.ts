import { SpanKind } from "@opentelemetry/api";
import { keepOne } from "../../core/values/keep-one.ts";
import type { Block } from "./block.ts";
import { field, ProtobufWriter } from "./protobuf.ts";
import { hasIsRemote } from "./span-encoder.ts";

/** An attribute's value: a text shared by all spans of the shape, or the type of a per-span value. */
export type StampValue = "integer" | "double" | "boolean" | { readonly text: string };

const two32 = 0x1_0000_0000;

/**
 * A span's bytes (opentelemetry/proto/trace/v1/trace.proto) with holes for per-span values. Spans of a kind differ only in a few numbers,
 * so they are copied and patched instead of encoded again.
 */
export class SpanShape {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #trace: number;
  readonly id: number;
  readonly parent: number;
  readonly #flags: number;
  readonly start: number;
  readonly end: number;
  readonly holes: number[] = [];

  constructor(name: string, attributes: Readonly<Record<string, StampValue>>) {
    const writer = new ProtobufWriter(512);
    const span = writer.open(field(2), 2);
    this.#trace = hole(writer, field(1), 16);
    this.id = hole(writer, field(2), 8);
    this.parent = hole(writer, field(4), 8);
    writer.text(field(5), name);
    writer.byte(field(6, 0));
    writer.byte(SpanKind.INTERNAL + 1); // OTLP counts kinds from 1, the API from 0.
    writer.varint(field(16, 5));
    this.#flags = writer.hole(4);
    writer.byte(field(7, 1));
    this.start = writer.hole(8);
    writer.byte(field(8, 1));
    this.end = writer.hole(8);
    for (const [key, value] of Object.entries(attributes)) {
      const at = writeAttribute(writer, key, value);
      if (at !== undefined) this.holes.push(at);
    }
    writer.close(span, 2);
    this.#bytes = writer.written.slice();
    this.#view = new DataView(this.#bytes.buffer);
  }

  /**
   * `parent`: the block's own parent, or one of its rows. Valid until the next call: the shape's bytes are shared, because a copy per block
   * would cost as much as several spans.
   */
  stamp(block: Block, parent: "own" | "row"): SpanStamp {
    const view = this.#view;
    const { traceId, spanId, traceFlags } = block.parent;
    for (let i = 0; i < 4; i++)
      view.setUint32(this.#trace + 4 * i, Number.parseInt(traceId.slice(8 * i, 8 * i + 8), 16));
    view.setUint32(this.id, block.idHigh);
    view.setUint32(this.parent, parent === "row" ? block.idHigh : Number.parseInt(spanId.slice(0, 8), 16));
    view.setUint32(this.parent + 4, Number.parseInt(spanId.slice(8), 16));
    view.setUint32(this.#flags, traceFlags | hasIsRemote, true);
    return new SpanStamp(this, block, this.#bytes);
  }
}

/** A shape with the values shared by one block filled in. */
export class SpanStamp {
  readonly #shape: SpanShape;
  readonly #block: Block;
  readonly #bytes: Uint8Array;

  constructor(shape: SpanShape, block: Block, bytes: Uint8Array) {
    this.#shape = shape;
    this.#block = block;
    this.#bytes = bytes;
    keepOne(this);
  }

  /** Writes the span of this row; returns its offset, for filling in the values. */
  write(writer: ProtobufWriter, row: number, start: number, end: number): number {
    const { idLow, origin } = this.#block;
    const shape = this.#shape;
    const at = writer.raw(this.#bytes);
    const startNanos = Math.round(start * 1e6);
    const endNanos = Math.max(startNanos, Math.round(end * 1e6));
    writer.putBig32(at + shape.id + 4, idLow + row);
    writer.putFixed64(
      at + shape.start,
      origin.high + Math.floor(startNanos / two32),
      origin.low + (startNanos % two32),
    );
    writer.putFixed64(at + shape.end, origin.high + Math.floor(endNanos / two32), origin.low + (endNanos % two32));
    return at;
  }

  putParent(writer: ProtobufWriter, at: number, row: number): void {
    writer.putBig32(at + this.#shape.parent + 4, this.#block.idLow + row);
  }

  /** Offset of a per-span value. */
  hole(at: number, number: number): number {
    return at + (this.#shape.holes[number] ?? 0);
  }
}

function hole(writer: ProtobufWriter, tag: number, size: number): number {
  writer.byte(tag);
  writer.byte(size);
  return writer.hole(size);
}

/** KeyValue { key = 1, value = 2: AnyValue { string = 1, bool = 2, int = 3, double = 4 } } in field 9 of a span. */
function writeAttribute(writer: ProtobufWriter, key: string, value: StampValue): number | undefined {
  const pair = writer.open(field(9), 1);
  writer.text(field(1), key);
  const any = writer.open(field(2), 1);
  let at: number | undefined;
  if (typeof value === "object") writer.text(field(1), value.text);
  else {
    writer.byte(value === "boolean" ? field(2, 0) : value === "integer" ? field(3, 0) : field(4, 1));
    at = writer.hole(value === "boolean" ? 1 : value === "integer" ? 5 : 8);
  }
  writer.close(any, 1);
  writer.close(pair, 1);
  return at;
}
