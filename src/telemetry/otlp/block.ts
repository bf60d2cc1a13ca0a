import { randomFillSync } from "node:crypto";
import type { SpanContext } from "@opentelemetry/api";
import type { Origin } from "../base/origin.ts";
import type { ChunkRecorder, Rows } from "./rows.ts";

/**
 * Spans stored as numbers. Ids are not stored: they share a random upper half and count up in the lower one, so that every reader of the
 * block (encoder, ring, other exporters) derives the same ids.
 */
export interface Block {
  /** Parent of all its spans. */
  readonly parent: SpanContext;
  readonly origin: Origin;
  readonly idHigh: number;
  readonly idLow: number;
  readonly chunks: Rows | undefined;
  /** Accumulation steps of the chunks. */
  readonly steps: Rows | undefined;
  readonly appends: Rows | undefined;
  readonly size: number;
}

export function chunkBlock(
  parent: SpanContext,
  origin: Origin,
  { rows, steps }: Pick<ChunkRecorder, "rows" | "steps">,
): Block {
  return { parent, origin, ...ids(), chunks: rows, steps, appends: undefined, size: rows.count + steps.count };
}

export function appendBlock(parent: SpanContext, origin: Origin, appends: Rows): Block {
  return { parent, origin, ...ids(), chunks: undefined, steps: undefined, appends, size: appends.count };
}

/** A copy with its own rows; the block's rows are reused for the next block. */
export const copyOf = (block: Block): Block => ({
  ...block,
  chunks: block.chunks?.copy(),
  steps: block.steps?.copy(),
  appends: block.appends?.copy(),
});

/** Id of span `index` of the block: chunks or appends first, then accumulation steps. */
export function spanIdOf(block: Block, index: number): string {
  return hex(block.idHigh) + hex((block.idLow + index) >>> 0);
}

const hex = (value: number): string => value.toString(16).padStart(8, "0");

const pool = new Uint32Array(512);
let used = pool.length;

function ids(): { idHigh: number; idLow: number } {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  // An all-zero id is invalid, so the upper half is never zero.
  const idHigh = pool[used++] || 1;
  return { idHigh, idLow: pool[used++] ?? 0 };
}
