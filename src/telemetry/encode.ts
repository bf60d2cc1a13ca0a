import { type Attributes, type AttributeValue, SpanKind } from "@opentelemetry/api";
import type { Block } from "./block.ts";
import { chunkKinds } from "./columns.ts";
import { attributes, scope, spans } from "./names.ts";
import { ProtobufWriter } from "./protobuf.ts";
import { gapOf } from "./rows.ts";

/**
 * Blocks as an OTLP ExportTraceServiceRequest (opentelemetry/proto/trace/v1/trace.proto). An SDK span object for every chunk
 * costs several times what the rest of the pipeline does; this costs a few hundred nanoseconds a span, after the generation.
 */
export function encodeBlocks(blocks: readonly Block[], resource: Attributes): Uint8Array {
  const size = blocks.reduce((sum, block) => sum + block.size, 0);
  const writer = new ProtobufWriter(size * spanRoom + 4_096);
  const resourceSpans = writer.open(field(1), 4);
  writeResource(writer, resource);
  const scopeSpans = writer.open(field(2), 4);
  const instrumentation = writer.open(field(1), 1);
  writeText(writer, field(1), utf8(scope));
  writer.close(instrumentation, 1);
  for (const block of blocks) writeBlock(writer, block);
  writer.close(scopeSpans, 4);
  writer.close(resourceSpans, 4);
  return writer.written;
}

/** More than any span here takes. */
const spanRoom = 288;

const field = (number: number, wireType = 2): number => (number << 3) | wireType;
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

const names = { chunk: utf8(spans.chunk), accumulate: utf8(spans.accumulate), append: utf8(spans.append) };
const kinds = chunkKinds.map(utf8);
const keys = {
  chunkIndex: utf8(attributes.chunkIndex),
  chunkKind: utf8(attributes.chunkKind),
  chunkBytes: utf8(attributes.chunkBytes),
  chunkGap: utf8(attributes.chunkGap),
  accumulateCall: utf8(attributes.accumulateCall),
  accumulateBytes: utf8(attributes.accumulateBytes),
  accumulateSealed: utf8(attributes.accumulateSealed),
  appendEvents: utf8(attributes.appendEvents),
  appendRuns: utf8(attributes.appendRuns),
};

function writeBlock(writer: ProtobufWriter, block: Block): void {
  const encoder = new SpanEncoder(writer, block);
  const { chunks, appends } = block;
  if (appends !== undefined) {
    for (let index = 0; index < appends.count; index++) {
      const span = encoder.open(names.append, index, -1);
      encoder.times(appends.start[index] ?? 0, appends.end[index] ?? 0);
      writeInteger(writer, keys.appendEvents, appends.events[index] ?? 0);
      writeInteger(writer, keys.appendRuns, appends.runs[index] ?? 0);
      writer.close(span, 2);
    }
  }
  if (chunks === undefined) return;
  let previous = chunks.start[0] ?? 0;
  for (let index = 0; index < chunks.count; index++) {
    const start = chunks.start[index] ?? 0;
    const span = encoder.open(names.chunk, index, -1);
    encoder.times(start, chunks.end[index] ?? 0);
    writeInteger(writer, keys.chunkIndex, index);
    writeString(writer, keys.chunkKind, kinds[chunks.kind[index] ?? 0] ?? names.chunk);
    writeInteger(writer, keys.chunkBytes, chunks.bytes[index] ?? 0);
    writeDouble(writer, keys.chunkGap, gapOf(start, previous));
    writer.close(span, 2);
    previous = start;
  }
  const { steps } = chunks;
  for (let index = 0; index < steps.count; index++) {
    const span = encoder.open(names.accumulate, chunks.count + index, steps.chunk[index] ?? -1);
    encoder.times(steps.start[index] ?? 0, steps.end[index] ?? 0);
    writeInteger(writer, keys.accumulateCall, steps.call[index] ?? 0);
    writeInteger(writer, keys.accumulateBytes, steps.bytes[index] ?? 0);
    writeBoolean(writer, keys.accumulateSealed, steps.sealed[index] ?? 0);
    writer.close(span, 2);
  }
}

/** The part that all spans of a block have in common. */
class SpanEncoder {
  readonly #writer: ProtobufWriter;
  readonly #block: Block;
  readonly #trace: Uint8Array;
  readonly #parent: Uint8Array;

  constructor(writer: ProtobufWriter, block: Block) {
    this.#writer = writer;
    this.#block = block;
    this.#trace = Buffer.from(block.parent.traceId, "hex");
    this.#parent = Buffer.from(block.parent.spanId, "hex");
  }

  /** `parent`: a row of the block, or -1 for the block's own parent. */
  open(name: Uint8Array, row: number, parent: number): number {
    const writer = this.#writer;
    const { idHigh, idLow } = this.#block;
    writer.reserve(spanRoom);
    const span = writer.open(field(2), 2);
    writeText(writer, field(1), this.#trace);
    writer.byte(field(2));
    writer.byte(8);
    writer.id(idHigh, idLow + row);
    writer.byte(field(4));
    writer.byte(8);
    if (parent < 0) writer.raw(this.#parent);
    else writer.id(idHigh, idLow + parent);
    writeText(writer, field(5), name);
    writer.byte(field(6, 0));
    writer.byte(SpanKind.INTERNAL + 1); // OTLP counts kinds from 1, the API from 0
    writer.byte((field(16, 5) & 127) | 128);
    writer.byte(field(16, 5) >> 7);
    writer.fixed32(this.#block.parent.traceFlags | hasIsRemote);
    return span;
  }

  times(start: number, end: number): void {
    const { origin } = this.#block;
    const writer = this.#writer;
    const startNanos = Math.round(start * 1e6);
    const endNanos = Math.max(startNanos, Math.round(end * 1e6));
    writer.byte(field(7, 1));
    writer.fixed64(origin.high + Math.floor(startNanos / two32), origin.low + (startNanos % two32));
    writer.byte(field(8, 1));
    writer.fixed64(origin.high + Math.floor(endNanos / two32), origin.low + (endNanos % two32));
  }
}

const two32 = 0x1_0000_0000;
/** "Whether the parent is remote is known", and it is not. */
const hasIsRemote = 0x100;

function writeText(writer: ProtobufWriter, tag: number, text: Uint8Array): void {
  writer.byte(tag);
  writer.varint(text.length);
  writer.raw(text);
}

/** KeyValue { key = 1, value = 2: AnyValue { string = 1, bool = 2, int = 3, double = 4 } } in field 9 of a span. */
function writeInteger(writer: ProtobufWriter, key: Uint8Array, value: number): void {
  const pair = openPair(writer, key);
  const any = writer.open(field(2), 1);
  writer.byte(field(3, 0));
  writer.varint(value);
  writer.close(any, 1);
  writer.close(pair, 1);
}

function writeDouble(writer: ProtobufWriter, key: Uint8Array, value: number): void {
  const pair = openPair(writer, key);
  writer.byte(field(2));
  writer.byte(9);
  writer.byte(field(4, 1));
  writer.double(value);
  writer.close(pair, 1);
}

function writeBoolean(writer: ProtobufWriter, key: Uint8Array, value: number): void {
  const pair = openPair(writer, key);
  writer.byte(field(2));
  writer.byte(2);
  writer.byte(field(2, 0));
  writer.byte(value);
  writer.close(pair, 1);
}

function writeString(writer: ProtobufWriter, key: Uint8Array, value: Uint8Array): void {
  const pair = openPair(writer, key);
  const any = writer.open(field(2), 1);
  writeText(writer, field(1), value);
  writer.close(any, 1);
  writer.close(pair, 1);
}

function openPair(writer: ProtobufWriter, key: Uint8Array): number {
  const pair = writer.open(field(9), 1);
  writeText(writer, field(1), key);
  return pair;
}

function writeResource(writer: ProtobufWriter, resource: Attributes): void {
  const start = writer.open(field(1), 4);
  for (const [key, value] of Object.entries(resource)) {
    if (value === undefined || value === null) continue;
    const text = utf8(key);
    writer.reserve(text.length + 32);
    const pair = writer.open(field(1), 4);
    writeText(writer, field(1), text);
    const any = writer.open(field(2), 4);
    writeAny(writer, value);
    writer.close(any, 4);
    writer.close(pair, 4);
  }
  writer.close(start, 4);
}

function writeAny(writer: ProtobufWriter, value: AttributeValue): void {
  if (typeof value === "string") {
    const text = utf8(value);
    writer.reserve(text.length + 16);
    writeText(writer, field(1), text);
  } else if (typeof value === "boolean") {
    writer.byte(field(2, 0));
    writer.byte(value ? 1 : 0);
  } else if (typeof value === "number") {
    writer.reserve(16);
    const whole = Number.isSafeInteger(value) && value >= 0;
    writer.byte(whole ? field(3, 0) : field(4, 1));
    if (whole) writer.varint(value);
    else writer.double(value);
  } else if (Array.isArray(value)) {
    const list = writer.open(field(5), 4);
    for (const item of value) {
      if (item === null || item === undefined) continue;
      writer.reserve(32);
      const entry = writer.open(field(1), 4);
      writeAny(writer, item);
      writer.close(entry, 4);
    }
    writer.close(list, 4);
  }
}
