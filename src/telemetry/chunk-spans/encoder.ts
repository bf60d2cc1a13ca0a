import type { Attributes, AttributeValue } from "@opentelemetry/api";
import { attributes, schemaUrl, scope, spans } from "../names.ts";
import type { Block } from "./block.ts";
import { field, ProtobufWriter, utf8 } from "./protobuf.ts";
import { chunkKinds } from "./recorders.ts";
import type { AppendRows, ChunkRows } from "./rows.ts";
import { toMicroseconds } from "./span-rows.ts";
import { SpanShape, type SpanStamp } from "./stamp.ts";

/**
 * Encodes blocks as an OTLP ExportTraceServiceRequest. An SDK span per chunk would cost several times as much as the rest of
 * the pipeline; this costs a couple of hundred nanoseconds per span.
 */
export function encodeBlocks(blocks: readonly Block[], resource: Attributes, version?: string): Uint8Array {
  const size = blocks.reduce((sum, block) => sum + block.size, 0);
  const writer = new ProtobufWriter(size * usualSize + 4_096);
  const resourceSpans = writer.open(field(1), 4);
  writeResource(writer, resource);
  const scopeSpans = writer.open(field(2), 4);
  const instrumentation = writer.open(field(1), 1);
  writer.text(field(1), utf8(scope));
  if (version !== undefined) writer.text(field(2), utf8(version));
  writer.close(instrumentation, 1);
  for (const block of blocks) {
    if (block.appends !== undefined) writeAppends(writer, block, block.appends);
    if (block.chunks !== undefined) writeChunks(writer, block, block.chunks);
    if (block.chunks !== undefined) writeSteps(writer, block, block.chunks);
  }
  writer.text(field(3), utf8(schemaUrl));
  writer.close(scopeSpans, 4);
  writer.close(resourceSpans, 4);
  return writer.written;
}

const usualSize = 224;

const appendShape = new SpanShape(spans.append, {
  [attributes.appendEvents]: "integer",
  [attributes.appendRuns]: "integer",
});

const chunkShapes = chunkKinds.map(
  (kind) =>
    new SpanShape(spans.chunk, {
      [attributes.chunkIndex]: "integer",
      [attributes.chunkKind]: { text: kind },
      [attributes.chunkBytes]: "integer",
      [attributes.chunkGap]: "double",
    }),
);

const stepShape = (): SpanShape =>
  new SpanShape(spans.accumulate, {
    [attributes.accumulateCall]: "integer",
    [attributes.accumulateBytes]: "integer",
    [attributes.accumulateSealed]: "boolean",
  });
const stepShapes = { chunk: stepShape(), chat: stepShape() };

function writeAppends(writer: ProtobufWriter, block: Block, rows: AppendRows): void {
  const stamp = appendShape.stamp(block, "own");
  for (let row = 0; row < rows.count; row++) {
    const at = stamp.write(writer, row, rows.start(row), rows.end(row));
    writer.putVarint(stamp.hole(at, 0), rows.events(row));
    writer.putVarint(stamp.hole(at, 1), rows.runs(row));
  }
}

function writeChunks(writer: ProtobufWriter, block: Block, rows: ChunkRows): void {
  const stamps: (SpanStamp | undefined)[] = [];
  for (let row = 0; row < rows.count; row++) {
    const kind = rows.kind(row);
    const start = rows.start(row);
    stamps[kind] ??= chunkShapes[kind]?.stamp(block, "own");
    const stamp = stamps[kind];
    if (stamp === undefined) continue;
    const at = stamp.write(writer, row, start, rows.end(row));
    writer.putVarint(stamp.hole(at, 0), rows.index(row));
    writer.putVarint(stamp.hole(at, 1), rows.bytes(row));
    writer.putDouble(stamp.hole(at, 2), toMicroseconds(rows.gap(row)));
  }
}

function writeSteps(writer: ProtobufWriter, block: Block, { count, steps }: ChunkRows): void {
  if (steps.count === 0) return;
  const below = { chunk: stepShapes.chunk.stamp(block, "row"), chat: stepShapes.chat.stamp(block, "own") };
  for (let row = 0; row < steps.count; row++) {
    const chunk = steps.chunk(row);
    const stamp = chunk < 0 ? below.chat : below.chunk;
    const at = stamp.write(writer, count + row, steps.start(row), steps.end(row));
    if (chunk >= 0) stamp.putParent(writer, at, chunk);
    writer.putVarint(stamp.hole(at, 0), steps.call(row));
    writer.putVarint(stamp.hole(at, 1), steps.bytes(row));
    writer.putByte(stamp.hole(at, 2), steps.sealed(row) ? 1 : 0);
  }
}

function writeResource(writer: ProtobufWriter, resource: Attributes): void {
  const start = writer.open(field(1), 4);
  for (const [key, value] of Object.entries(resource)) {
    if (value === undefined || value === null) continue;
    const pair = writer.open(field(1), 4);
    writer.text(field(1), utf8(key));
    const any = writer.open(field(2), 4);
    writeAny(writer, value);
    writer.close(any, 4);
    writer.close(pair, 4);
  }
  writer.close(start, 4);
}

function writeAny(writer: ProtobufWriter, value: AttributeValue): void {
  if (typeof value === "string") writer.text(field(1), utf8(value));
  else if (typeof value === "boolean") {
    writer.byte(field(2, 0));
    writer.byte(value ? 1 : 0);
  } else if (typeof value === "number") writeNumber(writer, value);
  else if (Array.isArray(value)) {
    const list = writer.open(field(5), 4);
    for (const item of value) {
      if (item === null || item === undefined) continue;
      const entry = writer.open(field(1), 4);
      writeAny(writer, item);
      writer.close(entry, 4);
    }
    writer.close(list, 4);
  }
}

function writeNumber(writer: ProtobufWriter, value: number): void {
  const whole = Number.isSafeInteger(value) && value >= 0;
  writer.byte(whole ? field(3, 0) : field(4, 1));
  if (whole) writer.varint(value);
  else writer.double(value);
}
