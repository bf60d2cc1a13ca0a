import type { ChunkKind } from "../../core/provider.ts";

export const chunkKinds: readonly ChunkKind[] = ["text", "reasoning", "tool_call", "usage", "done", "error", "other"];

const errorKind = chunkKinds.indexOf("error");

const firstCapacity = 64;

const none64: Float64Array = new Float64Array(0);
const none32: Uint32Array = new Uint32Array(0);
const noneSigned: Int32Array = new Int32Array(0);
const none8: Uint8Array = new Uint8Array(0);
const noneFloat: Float32Array = new Float32Array(0);

/** Rows reserved beyond the first chunks, for streams that exceed the limit. */
const mostReserved = 256;

/** A gap this long, and several times the usual one, makes the chunks around it worth keeping, ms. */
const longGap = 100;
const unusual = 4;

/** Full blocks go out while the run goes on: neither memory nor the work at its end grows with its length. */
export const blockRows = firstCapacity;

/**
 * Selects the chunks and accumulation steps of one generation that become spans. The hot path is a few typed-array stores; spans
 * are derived from full blocks. Past the limit it keeps the informative chunks: the first, those around a long gap, errors, and
 * the last.
 */
export class ChunkColumns {
  readonly #limit: number;
  readonly #first: number;
  /** Of the block to come. */
  rows = new ChunkRows();
  /** Rows and steps of earlier blocks. */
  #taken = 0;
  #takenSteps = 0;
  /** Number of rows dropped past the limit. */
  suppressed = 0;
  /** End of the last chunk, kept or not. */
  lastEnd = 0;
  #total = 0;
  #firstStart = 0;
  #lastStart = 0;
  /** The last chunks beyond the first ones, as many as fit; valid from `#tailAt` on. */
  #tail: Chunk[] = [];
  #tailAt = 0;

  constructor(limit: number) {
    this.#limit = limit;
    this.#first = limit - Math.min(mostReserved, limit >> 2);
  }

  chunk(kind: number, bytes: number, start: number, end: number): void {
    const index = this.#total++;
    if (index === 0) this.#firstStart = start;
    const gap = index === 0 ? 0 : start - this.#lastStart;
    if (index < this.#first) this.rows.push(kind, bytes, start, end, index, gap);
    else this.#choose({ kind, bytes, start, end, index, gap });
    this.#lastStart = start;
    this.lastEnd = end;
  }

  /** Extends the chunk until its content is accumulated, so that the step lies within it. */
  step(chunk: number, call: number, bytes: number, sealed: boolean, start: number, end: number): void {
    const { rows } = this;
    const row = chunk < this.#first ? chunk - this.#taken : this.#rowOf(chunk);
    if (row >= rows.count || this.#takenSteps + rows.steps.count >= this.#limit) {
      this.suppressed++;
      return;
    }
    if (row >= 0 && end > (rows.end[row] ?? 0)) rows.end[row] = end;
    rows.steps.push(Math.max(-1, row), call, bytes, sealed, start, end);
  }

  /** The rows so far, for a block. */
  take(): ChunkRows {
    const { rows } = this;
    this.#taken += rows.count;
    this.#takenSteps += rows.steps.count;
    this.rows = new ChunkRows();
    return rows;
  }

  /** The stream has ended: keeps the last chunks, as far as there is room. */
  close(): void {
    for (const { kind, bytes, start, end, index, gap } of this.#tail.slice(this.#tailAt)) {
      this.rows.push(kind, bytes, start, end, index, gap);
    }
    this.#tail = [];
    this.suppressed += this.#total - this.#kept;
  }

  get #kept(): number {
    return this.#taken + this.rows.count;
  }

  #choose(chunk: Chunk): void {
    const usual = (chunk.start - this.#firstStart) / chunk.index;
    const afterGap = chunk.gap >= longGap && chunk.gap >= unusual * usual;
    // Half of the reserve belongs to the last chunks.
    const room = this.#first + ((this.#limit - this.#first) >> 1);
    if ((afterGap || chunk.kind === errorKind) && this.#kept + 1 < room) {
      const before = afterGap && this.#tail.length > this.#tailAt ? this.#tail.pop() : undefined;
      for (const { kind, bytes, start, end, index, gap } of before === undefined ? [chunk] : [before, chunk]) {
        this.rows.push(kind, bytes, start, end, index, gap);
      }
    } else {
      this.#tail.push(chunk);
    }
    while (this.#tail.length - this.#tailAt > this.#limit - this.#kept) this.#tailAt++;
    if (this.#tailAt > mostReserved) {
      this.#tail = this.#tail.slice(this.#tailAt);
      this.#tailAt = 0;
    }
  }

  /** Its row if it is the newest chunk; past the limit if it was not kept. */
  #rowOf(chunk: number): number {
    const { index, count } = this.rows;
    return index[count - 1] === chunk ? count - 1 : count;
  }
}

interface Chunk {
  readonly kind: number;
  readonly bytes: number;
  readonly start: number;
  readonly end: number;
  readonly index: number;
  readonly gap: number;
}

/** Chunks of one block as columns. */
export class ChunkRows {
  count = 0;
  start = none64;
  end = none64;
  kind = none8;
  bytes = none32;
  /** Ordinal of the chunk in its stream. */
  index = none32;
  /** Time since the previous chunk, ms. */
  gap = noneFloat;
  readonly steps = new StepRows();

  push(kind: number, bytes: number, start: number, end: number, index: number, gap: number): void {
    const row = this.count;
    if (row === this.start.length) this.#grow();
    this.start[row] = start;
    this.end[row] = end;
    this.kind[row] = kind;
    this.bytes[row] = bytes;
    this.index[row] = index;
    this.gap[row] = gap;
    this.count = row + 1;
  }

  #grow(): void {
    const room = new ColumnAllocator(this.start.length, 8 + 8 + 4 + 4 + 4 + 1);
    this.start = room.float64(this.start);
    this.end = room.float64(this.end);
    this.bytes = room.uint32(this.bytes);
    this.index = room.uint32(this.index);
    this.gap = room.float32(this.gap);
    this.kind = room.uint8(this.kind);
  }
}

class StepRows {
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
    const room = new ColumnAllocator(this.start.length, 8 + 8 + 4 + 4 + 4 + 1);
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
  /** Of the block to come. */
  rows = new AppendRows();
  #taken = 0;
  /** Number of rows dropped past the limit. */
  suppressed = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(events: number, runs: number, start: number, end: number): void {
    if (this.#taken + this.rows.count < this.#limit) this.rows.push(events, runs, start, end);
    else this.suppressed++;
  }

  /** The rows so far, for a block. */
  take(): AppendRows {
    const { rows } = this;
    this.#taken += rows.count;
    this.rows = new AppendRows();
    return rows;
  }
}

/** Appends of one block as columns. */
export class AppendRows {
  count = 0;
  start = none64;
  end = none64;
  events = none32;
  runs = none32;

  push(events: number, runs: number, start: number, end: number): void {
    const index = this.count;
    if (index === this.start.length) this.#grow();
    this.start[index] = start;
    this.end[index] = end;
    this.events[index] = events;
    this.runs[index] = runs;
    this.count = index + 1;
  }

  #grow(): void {
    const room = new ColumnAllocator(this.start.length, 8 + 8 + 4 + 4);
    this.start = room.float64(this.start);
    this.end = room.float64(this.end);
    this.events = room.uint32(this.events);
    this.runs = room.uint32(this.runs);
  }
}

/** Quadruples the capacity. All columns share one buffer: one allocation, and one object for the garbage collector. */
class ColumnAllocator {
  readonly #rows: number;
  readonly #buffer: ArrayBuffer;
  #at = 0;

  /** Columns are allocated widest first, which keeps each one aligned. */
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

  float32(before: Float32Array): Float32Array {
    const column = new Float32Array(this.#buffer, this.#take(4), this.#rows);
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
