import type { Attributes } from "@opentelemetry/api";
import { attributes, spans } from "../names.ts";
import { type Block, spanIdOf } from "./block.ts";
import { chunkKinds } from "./columns.ts";

/** One span of a block as an object. Times are `performance.now()` milliseconds. */
export interface Row {
  readonly name: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  /** Row of the parent within the block; undefined when it is the block's parent. */
  readonly parentRow: number | undefined;
  readonly start: number;
  readonly end: number;
  readonly attributes: Attributes;
}

/** For consumers that need objects: the ring's JSON, span events, processors other than our exporter. Parents come first. */
export function* rowsOf(block: Block): Generator<Row> {
  yield* appendRows(block);
  yield* chunkRows(block);
}

function* appendRows(block: Block): Generator<Row> {
  const columns = block.appends;
  if (columns === undefined) return;
  for (let index = 0; index < columns.count; index++) {
    yield {
      name: spans.append,
      spanId: spanIdOf(block, index),
      parentSpanId: block.parent.spanId,
      parentRow: undefined,
      start: columns.start(index),
      end: columns.end(index),
      attributes: {
        [attributes.appendEvents]: columns.events(index),
        [attributes.appendRuns]: columns.runs(index),
      },
    };
  }
}

function* chunkRows(block: Block): Generator<Row> {
  const columns = block.chunks;
  if (columns === undefined) return;
  for (let index = 0; index < columns.count; index++) {
    const start = columns.start(index);
    yield {
      name: spans.chunk,
      spanId: spanIdOf(block, index),
      parentSpanId: block.parent.spanId,
      parentRow: undefined,
      start,
      end: columns.end(index),
      attributes: {
        [attributes.chunkIndex]: columns.index(index),
        [attributes.chunkKind]: chunkKinds[columns.kind(index)] ?? "other",
        [attributes.chunkBytes]: columns.bytes(index),
        [attributes.chunkGap]: toMicroseconds(columns.gap(index)),
      },
    };
  }
  const { steps } = columns;
  for (let index = 0; index < steps.count; index++) {
    const chunk = steps.chunk(index);
    yield {
      name: spans.accumulate,
      spanId: spanIdOf(block, columns.count + index),
      parentSpanId: chunk < 0 ? block.parent.spanId : spanIdOf(block, chunk),
      parentRow: chunk < 0 ? undefined : chunk,
      start: steps.start(index),
      end: steps.end(index),
      attributes: {
        [attributes.accumulateCall]: steps.call(index),
        [attributes.accumulateBytes]: steps.bytes(index),
        [attributes.accumulateSealed]: steps.sealed(index),
      },
    };
  }
}

/** Rounds milliseconds to the microsecond. */
export const toMicroseconds = (ms: number): number => Math.round(ms * 1_000) / 1_000;
