import type { Attributes } from "@opentelemetry/api";
import { attributes, spans } from "../base/names.ts";
import { type Block, spanIdOf } from "./block.ts";
import { chunkKinds, columns } from "./rows.ts";

/** One span of a block as an object. Times are `performance.now()` milliseconds. */
export interface Row {
  readonly name: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  /** Row of the parent within the block; undefined if it is the block's parent. */
  readonly parentRow: number | undefined;
  readonly start: number;
  readonly end: number;
  readonly attributes: Attributes;
}

/** The block's spans as objects, parents first: for the ring's JSON, span events, and processors other than our exporter. */
export function* rowsOf(block: Block): Generator<Row> {
  yield* appendRows(block);
  yield* chunkRows(block);
}

function* appendRows(block: Block): Generator<Row> {
  const rows = block.appends;
  if (rows === undefined) return;
  for (let index = 0; index < rows.count; index++) {
    yield {
      name: spans.append,
      spanId: spanIdOf(block, index),
      parentSpanId: block.parent.spanId,
      parentRow: undefined,
      start: rows.start(index),
      end: rows.end(index),
      attributes: {
        [attributes.appendEvents]: rows.cell(index, columns.append.events),
        [attributes.appendRuns]: rows.cell(index, columns.append.runs),
      },
    };
  }
}

function* chunkRows(block: Block): Generator<Row> {
  const { chunks: rows, steps } = block;
  if (rows === undefined || steps === undefined) return;
  for (let index = 0; index < rows.count; index++) {
    const start = rows.start(index);
    yield {
      name: spans.chunk,
      spanId: spanIdOf(block, index),
      parentSpanId: block.parent.spanId,
      parentRow: undefined,
      start,
      end: rows.end(index),
      attributes: {
        [attributes.chunkIndex]: rows.cell(index, columns.chunk.index),
        [attributes.chunkKind]: chunkKinds[rows.cell(index, columns.chunk.kind)] ?? "other",
        [attributes.chunkBytes]: rows.cell(index, columns.chunk.bytes),
        [attributes.chunkGap]: toMicroseconds(rows.cell(index, columns.chunk.gap)),
      },
    };
  }
  for (let index = 0; index < steps.count; index++) {
    const chunk = steps.cell(index, columns.step.chunk);
    yield {
      name: spans.accumulate,
      spanId: spanIdOf(block, rows.count + index),
      parentSpanId: chunk < 0 ? block.parent.spanId : spanIdOf(block, chunk),
      parentRow: chunk < 0 ? undefined : chunk,
      start: steps.start(index),
      end: steps.end(index),
      attributes: {
        [attributes.accumulateCall]: steps.cell(index, columns.step.call),
        [attributes.accumulateBytes]: steps.cell(index, columns.step.bytes),
        [attributes.accumulateSealed]: steps.cell(index, columns.step.sealed) === 1,
      },
    };
  }
}

/** Rounds milliseconds to the microsecond. */
export const toMicroseconds = (ms: number): number => Math.round(ms * 1_000) / 1_000;
