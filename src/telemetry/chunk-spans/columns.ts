import type { ChunkKind } from "../../core/provider.ts";

export const chunkKinds: readonly ChunkKind[] = ["text", "reasoning", "tool_call", "usage", "done", "error", "other"];

const firstCapacity = 64;

const none64: Float64Array = new Float64Array(0);
const none32: Uint32Array = new Uint32Array(0);
const noneSigned: Int32Array = new Int32Array(0);
const none8: Uint8Array = new Uint8Array(0);

/**
 * Chunks and accumulation steps of one generation, as columns: the hot path is a handful of typed-array stores, and what
 * the columns mean as spans is worked out after the generation has ended.
 */
export class ChunkColumns {
  readonly #limit: number;
  count = 0;
  start = none64;
  end = none64;
  kind = none8;
  bytes = none32;
  readonly steps = new StepColumns();
  /** What did not fit under the limit. */
  suppressed = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  chunk(kind: number, bytes: number, start: number, end: number): void {
    const index = this.count;
    if (index >= this.#limit) {
      this.suppressed++;
      return;
    }
    if (index === this.start.length) this.#grow();
    this.start[index] = start;
    this.end[index] = end;
    this.kind[index] = kind;
    this.bytes[index] = bytes;
    this.count = index + 1;
  }

  /** A chunk lasts until what it carried is accumulated, so that the step lies within it. */
  step(chunk: number, call: number, bytes: number, sealed: boolean, start: number, end: number): void {
    if (chunk >= this.count || this.steps.count >= this.#limit) {
      this.suppressed++;
      return;
    }
    if (chunk >= 0 && end > (this.end[chunk] ?? 0)) this.end[chunk] = end;
    this.steps.push(chunk, call, bytes, sealed, start, end);
  }

  #grow(): void {
    const room = new Room(this.start.length, 8 + 8 + 4 + 1);
    this.start = room.float64(this.start);
    this.end = room.float64(this.end);
    this.bytes = room.uint32(this.bytes);
    this.kind = room.uint8(this.kind);
  }
}

class StepColumns {
  count = 0;
  start = none64;
  end = none64;
  chunk = noneSigned;
  call = none32;
  bytes = none32;
  sealed = none8;

  push(chunk: number, call: number, bytes: number, sealed: boolean, start: number, end: number): void {
    const index = this.count;
    if (index === this.start.length) this.#grow();
    this.start[index] = start;
    this.end[index] = end;
    this.chunk[index] = chunk;
    this.call[index] = call;
    this.bytes[index] = bytes;
    this.sealed[index] = sealed ? 1 : 0;
    this.count = index + 1;
  }

  #grow(): void {
    const room = new Room(this.start.length, 8 + 8 + 4 + 4 + 4 + 1);
    this.start = room.float64(this.start);
    this.end = room.float64(this.end);
    this.chunk = room.int32(this.chunk);
    this.call = room.uint32(this.call);
    this.bytes = room.uint32(this.bytes);
    this.sealed = room.uint8(this.sealed);
  }
}

/** Durable appends of one run. */
export class AppendColumns {
  readonly #limit: number;
  count = 0;
  start = none64;
  end = none64;
  events = none32;
  runs = none32;
  /** What did not fit under the limit. */
  suppressed = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(events: number, runs: number, start: number, end: number): void {
    const index = this.count;
    if (index >= this.#limit) {
      this.suppressed++;
      return;
    }
    if (index === this.start.length) this.#grow();
    this.start[index] = start;
    this.end[index] = end;
    this.events[index] = events;
    this.runs[index] = runs;
    this.count = index + 1;
  }

  #grow(): void {
    const room = new Room(this.start.length, 8 + 8 + 4 + 4);
    this.start = room.float64(this.start);
    this.end = room.float64(this.end);
    this.events = room.uint32(this.events);
    this.runs = room.uint32(this.runs);
  }
}

/** Four times the room there was, for all columns in one piece: each piece is a call of the allocator and work for the collector. */
class Room {
  readonly #rows: number;
  readonly #buffer: ArrayBuffer;
  #at = 0;

  /** Columns are taken widest first, so that each begins where its numbers may. */
  constructor(rows: number, bytesPerRow: number) {
    this.#rows = Math.max(firstCapacity, rows * 4);
    this.#buffer = new ArrayBuffer(this.#rows * bytesPerRow);
  }

  float64(before: Float64Array): Float64Array {
    const column = new Float64Array(this.#buffer, this.#take(8), this.#rows);
    column.set(before);
    return column;
  }

  int32(before: Int32Array): Int32Array {
    const column = new Int32Array(this.#buffer, this.#take(4), this.#rows);
    column.set(before);
    return column;
  }

  uint32(before: Uint32Array): Uint32Array {
    const column = new Uint32Array(this.#buffer, this.#take(4), this.#rows);
    column.set(before);
    return column;
  }

  uint8(before: Uint8Array): Uint8Array {
    const column = new Uint8Array(this.#buffer, this.#take(1), this.#rows);
    column.set(before);
    return column;
  }

  #take(bytes: number): number {
    const at = this.#at;
    this.#at += bytes * this.#rows;
    return at;
  }
}
