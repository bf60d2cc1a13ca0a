import { attributes, spans } from "../base/names.ts";
import type { Block } from "./block.ts";
import type { ProtobufWriter } from "./protobuf.ts";
import { chunkKinds, columns, type Rows } from "./rows.ts";
import { toMicroseconds } from "./span-rows.ts";
import { SpanShape, type SpanStamp } from "./stamp.ts";

/**
 * Writes a block as spans of an OTLP ScopeSpans. An SDK span per chunk would cost several times as much as the rest of the pipeline; this
 * takes about 200 ns per span.
 */
export function writeBlock(writer: ProtobufWriter, block: Block): void {
  if (block.appends !== undefined) writeAppends(writer, block, block.appends);
  if (block.chunks !== undefined) writeChunks(writer, block, block.chunks);
  if (block.steps !== undefined) writeSteps(writer, block, block.steps);
}

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

function writeAppends(writer: ProtobufWriter, block: Block, rows: Rows): void {
  const stamp = appendShape.stamp(block, "own");
  for (let row = 0; row < rows.count; row++) {
    const at = stamp.write(writer, row, rows.start(row), rows.end(row));
    writer.putVarint(stamp.hole(at, 0), rows.cell(row, columns.append.events));
    writer.putVarint(stamp.hole(at, 1), rows.cell(row, columns.append.runs));
  }
}

function writeChunks(writer: ProtobufWriter, block: Block, rows: Rows): void {
  const stamps: (SpanStamp | undefined)[] = [];
  for (let row = 0; row < rows.count; row++) {
    const kind = rows.cell(row, columns.chunk.kind);
    const start = rows.start(row);
    stamps[kind] ??= chunkShapes[kind]?.stamp(block, "own");
    const stamp = stamps[kind];
    if (stamp === undefined) continue;
    const at = stamp.write(writer, row, start, rows.end(row));
    writer.putVarint(stamp.hole(at, 0), rows.cell(row, columns.chunk.index));
    writer.putVarint(stamp.hole(at, 1), rows.cell(row, columns.chunk.bytes));
    writer.putDouble(stamp.hole(at, 2), toMicroseconds(rows.cell(row, columns.chunk.gap)));
  }
}

function writeSteps(writer: ProtobufWriter, block: Block, steps: Rows): void {
  if (steps.count === 0) return;
  const count = block.chunks?.count ?? 0;
  const below = { chunk: stepShapes.chunk.stamp(block, "row"), chat: stepShapes.chat.stamp(block, "own") };
  for (let row = 0; row < steps.count; row++) {
    const chunk = steps.cell(row, columns.step.chunk);
    const stamp = chunk < 0 ? below.chat : below.chunk;
    const at = stamp.write(writer, count + row, steps.start(row), steps.end(row));
    if (chunk >= 0) stamp.putParent(writer, at, chunk);
    writer.putVarint(stamp.hole(at, 0), steps.cell(row, columns.step.call));
    writer.putVarint(stamp.hole(at, 1), steps.cell(row, columns.step.bytes));
    writer.putByte(stamp.hole(at, 2), steps.cell(row, columns.step.sealed));
  }
}
