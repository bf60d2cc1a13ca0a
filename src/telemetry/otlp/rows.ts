import type { ChunkKind } from "../../core/model/deltas.ts";

/** Rows per block. Full blocks are emitted during the run, so neither memory nor the work at its end grows with its length. */
export const blockRows = 32;
/** The same for accumulation steps: one frame can hold any number of fragments. */
export const blockSteps = 1_024;

export const chunkKinds: readonly ChunkKind[] = ["text", "reasoning", "tool_call", "usage", "done", "error", "other"];

const errorKind = chunkKinds.indexOf("error");

const width = 6;
const noCells: Float64Array = new Float64Array(0);
/** Initial array size: one block. */
const usualCells = blockRows * width;
/** Arrays of ended streams, for reuse: they are allocated off the heap, which is slow. */
const spare: Float64Array[] = [];
const mostSpare = 256;
/** Copies share large arrays: allocating one for each block was 1.5 % of a short run. */
const slabCells = 64 * usualCells;
let slab = noCells;
let used = 0;

/** What the cells of a row hold after its start and end. */
export const columns = {
  chunk: { kind: 2, bytes: 3, index: 4, gap: 5 },
  /** `chunk`: the row of its chunk, or -1 if that is not in this block. */
  step: { chunk: 2, call: 3, bytes: 4, sealed: 5 },
  append: { events: 2, runs: 3 },
} as const;

/** Rows of numbers in one array: a new row touches one or two cache lines, however many streams there are. */
export class Rows {
  count = 0;
  #cells = noCells;
  /** Where they begin in the array; only those of a copy begin within it. */
  #from = 0;

  push(start: number, end: number, third: number, fourth: number, fifth = 0, sixth = 0): void {
    const at = this.count * width;
    if (at === this.#cells.length) this.#grow(at);
    this.count += 1;
    const cells = this.#cells;
    cells[at] = start;
    cells[at + 1] = end;
    cells[at + 2] = third;
    cells[at + 3] = fourth;
    cells[at + 4] = fifth;
    cells[at + 5] = sixth;
  }

  start(row: number): number {
    return this.#cells[this.#from + row * width] ?? 0;
  }

  end(row: number): number {
    return this.#cells[this.#from + row * width + 1] ?? 0;
  }

  cell(row: number, column: number): number {
    return this.#cells[this.#from + row * width + column] ?? 0;
  }

  extend(row: number, end: number): void {
    if (end > this.end(row)) this.#cells[row * width + 1] = end;
  }

  /** Frees the array after the last rows were emitted. */
  release(): void {
    this.count = 0;
    if (this.#cells.length === usualCells && spare.length < mostSpare) spare.push(this.#cells);
    this.#cells = noCells;
  }

  /** To be read only. */
  copy(): Rows {
    const copy = new Rows();
    const length = this.count * width;
    if (used + length > slab.length) {
      slab = new Float64Array(Math.max(slabCells, length));
      used = 0;
    }
    for (let i = 0; i < length; i++) slab[used + i] = this.#cells[this.#from + i] ?? 0;
    copy.#cells = slab;
    copy.#from = used;
    copy.count = this.count;
    used += length;
    return copy;
  }

  #grow(at: number): void {
    const larger = at === 0 ? (spare.pop() ?? new Float64Array(usualCells)) : new Float64Array(at * 4);
    larger.set(this.#cells);
    this.#cells = larger;
  }
}

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
  /** Rows of the next block, and their accumulation steps. */
  readonly rows = new Rows();
  readonly steps = new Rows();
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
    if (index < this.#first) this.rows.push(start, end, kind, bytes, index, gap);
    else this.#choose({ kind, bytes, start, end, index, gap });
    this.#lastStart = start;
    this.lastEnd = end;
  }

  /** Extends the chunk's span until its content is accumulated, so that the step lies within it. */
  step(chunk: number, call: number, bytes: number, sealed: boolean, start: number, end: number): void {
    const { rows, steps } = this;
    const row = chunk < this.#first ? chunk - this.#taken : this.#rowOf(chunk);
    if (row >= rows.count || this.#takenSteps + steps.count >= this.#limit) {
      this.suppressed++;
      return;
    }
    if (row >= 0) rows.extend(row, end);
    steps.push(start, end, Math.max(-1, row), call, bytes, sealed ? 1 : 0);
  }

  /** Called when the rows were emitted. */
  clear(): void {
    this.#taken += this.rows.count;
    this.#takenSteps += this.steps.count;
    this.rows.count = 0;
    this.steps.count = 0;
  }

  /** Frees the rows. */
  release(): void {
    this.rows.release();
    this.steps.release();
  }

  /** The stream has ended: keeps the last chunks, as far as there is room. */
  close(): void {
    for (const { kind, bytes, start, end, index, gap } of this.#tail.slice(this.#tailAt)) {
      this.rows.push(start, end, kind, bytes, index, gap);
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
        this.rows.push(start, end, kind, bytes, index, gap);
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
    return rows.count > 0 && rows.cell(rows.count - 1, columns.chunk.index) === chunk ? rows.count - 1 : rows.count;
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
