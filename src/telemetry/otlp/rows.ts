/** Rows per block. Full blocks are emitted during the run, so neither memory nor the work at its end grows with its length. */
export const blockRows = 32;
/** The same for accumulation steps: one frame can hold any number of fragments. */
export const blockSteps = 1_024;

const noCells: Float64Array = new Float64Array(0);
/** Initial array size of a table: a block of the widest rows. */
const usualCells = blockRows * 6;
/** Arrays of ended streams, for reuse: they are allocated off the heap, which is slow. */
const spare: Float64Array[] = [];
const mostSpare = 256;

/** Rows of numbers in one array: a new row touches one or two cache lines, however many streams there are. */
abstract class Table {
  count = 0;
  protected cells = noCells;
  readonly #width: number;

  constructor(width: number) {
    this.#width = width;
  }

  start(row: number): number {
    return this.cells[row * this.#width] ?? 0;
  }

  end(row: number): number {
    return this.cells[row * this.#width + 1] ?? 0;
  }

  clear(): void {
    this.count = 0;
  }

  /** Frees the array after the last rows were emitted. */
  release(): void {
    this.count = 0;
    if (this.cells.length === usualCells && spare.length < mostSpare) spare.push(this.cells);
    this.cells = noCells;
  }

  /** Offset of a new row. */
  protected add(): number {
    const at = this.count * this.#width;
    if (at === this.cells.length) this.#grow(at);
    this.count += 1;
    return at;
  }

  protected copyTo(copy: Table): void {
    copy.cells = this.cells.slice(0, this.count * this.#width);
    copy.count = this.count;
  }

  #grow(at: number): void {
    const larger = at === 0 ? (spare.pop() ?? new Float64Array(usualCells)) : new Float64Array(at * 4);
    larger.set(this.cells);
    this.cells = larger;
  }
}

/** Chunks of one block, and their accumulation steps. */
export class ChunkRows extends Table {
  readonly steps = new StepRows();

  constructor() {
    super(6);
  }

  push(kind: number, bytes: number, start: number, end: number, index: number, gap: number): void {
    const at = this.add();
    const { cells } = this;
    cells[at] = start;
    cells[at + 1] = end;
    cells[at + 2] = kind;
    cells[at + 3] = bytes;
    cells[at + 4] = index;
    cells[at + 5] = gap;
  }

  extend(row: number, end: number): void {
    if (end > this.end(row)) this.cells[row * 6 + 1] = end;
  }

  override clear(): void {
    super.clear();
    this.steps.clear();
  }

  override release(): void {
    super.release();
    this.steps.release();
  }

  copy(): ChunkRows {
    const copy = new ChunkRows();
    this.copyTo(copy);
    this.steps.copyTo(copy.steps);
    return copy;
  }

  kind(row: number): number {
    return this.cells[row * 6 + 2] ?? 0;
  }

  bytes(row: number): number {
    return this.cells[row * 6 + 3] ?? 0;
  }

  /** Ordinal of the chunk in its stream. */
  index(row: number): number {
    return this.cells[row * 6 + 4] ?? 0;
  }

  /** Time since the previous chunk, ms. */
  gap(row: number): number {
    return this.cells[row * 6 + 5] ?? 0;
  }
}

class StepRows extends Table {
  constructor() {
    super(6);
  }

  push(chunk: number, call: number, bytes: number, sealed: boolean, start: number, end: number): void {
    const at = this.add();
    const { cells } = this;
    cells[at] = start;
    cells[at + 1] = end;
    cells[at + 2] = chunk;
    cells[at + 3] = call;
    cells[at + 4] = bytes;
    cells[at + 5] = sealed ? 1 : 0;
  }

  override copyTo(copy: StepRows): void {
    super.copyTo(copy);
  }

  /** Row of its chunk; -1 if the chunk is not in this block. */
  chunk(row: number): number {
    return this.cells[row * 6 + 2] ?? -1;
  }

  call(row: number): number {
    return this.cells[row * 6 + 3] ?? 0;
  }

  bytes(row: number): number {
    return this.cells[row * 6 + 4] ?? 0;
  }

  sealed(row: number): boolean {
    return this.cells[row * 6 + 5] === 1;
  }
}

/** Appends of one block. */
export class AppendRows extends Table {
  constructor() {
    super(4);
  }

  push(events: number, runs: number, start: number, end: number): void {
    const at = this.add();
    const { cells } = this;
    cells[at] = start;
    cells[at + 1] = end;
    cells[at + 2] = events;
    cells[at + 3] = runs;
  }

  copy(): AppendRows {
    const copy = new AppendRows();
    this.copyTo(copy);
    return copy;
  }

  events(row: number): number {
    return this.cells[row * 4 + 2] ?? 0;
  }

  runs(row: number): number {
    return this.cells[row * 4 + 3] ?? 0;
  }
}
