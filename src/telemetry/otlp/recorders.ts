import type { ChunkKind } from "../../core/model/deltas.ts";
import { ChunkRows } from "./rows.ts";

export const chunkKinds: readonly ChunkKind[] = ["text", "reasoning", "tool_call", "usage", "done", "error", "other"];

const errorKind = chunkKinds.indexOf("error");

/** Rows reserved after the first chunks, for streams that exceed the limit. */
const mostReserved = 256;

/** A gap at least this long, and several times the mean, makes the surrounding chunks worth keeping, ms. */
const longGap = 100;
const unusual = 4;

/**
 * Selects which chunks and accumulation steps of a generation become spans. The hot path is a few typed-array stores; spans are made from
 * full blocks. Past the limit it keeps the informative chunks: the first, those around a long gap, errors, and the last.
 */
export class ChunkRecorder {
  readonly #limit: number;
  readonly #first: number;
  /** Rows of the next block. */
  readonly rows = new ChunkRows();
  /** Rows and steps already emitted in earlier blocks. */
  #taken = 0;
  #takenSteps = 0;
  /** Number of rows dropped past the limit. */
  suppressed = 0;
  /** End of the last chunk, kept or not. */
  lastEnd = 0;
  #total = 0;
  #firstStart = 0;
  #lastStart = 0;
  /** Ring of the last chunks past the first ones; valid from `#tailAt` on. */
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

  /** Extends the chunk's span until its content is accumulated, so that the step lies within it. */
  step(chunk: number, call: number, bytes: number, sealed: boolean, start: number, end: number): void {
    const { rows } = this;
    const row = chunk < this.#first ? chunk - this.#taken : this.#rowOf(chunk);
    if (row >= rows.count || this.#takenSteps + rows.steps.count >= this.#limit) {
      this.suppressed++;
      return;
    }
    if (row >= 0) rows.extend(row, end);
    rows.steps.push(Math.max(-1, row), call, bytes, sealed, start, end);
  }

  /** Called when the rows were emitted. */
  clear(): void {
    this.#taken += this.rows.count;
    this.#takenSteps += this.rows.steps.count;
    this.rows.clear();
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
    // Half of the reserve is for the last chunks.
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

  /** The chunk's row if it is the newest; otherwise the index past the last row. */
  #rowOf(chunk: number): number {
    const { rows } = this;
    return rows.count > 0 && rows.index(rows.count - 1) === chunk ? rows.count - 1 : rows.count;
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
