import type { ChunkKind } from "../core/provider.ts";

export const chunkKinds: readonly ChunkKind[] = ["text", "reasoning", "tool_call", "usage", "done", "error", "other"];

const firstCapacity = 64;

/**
 * Chunks and accumulation steps of one generation, as columns: the hot path is a handful of typed-array stores, and what
 * the columns mean as spans is worked out after the generation has ended.
 */
export class ChunkColumns {
  readonly #limit: number;
  count = 0;
  start = new Float64Array(firstCapacity);
  end = new Float64Array(firstCapacity);
  kind = new Uint8Array(firstCapacity);
  bytes = new Uint32Array(firstCapacity);
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
    this.start = grown(this.start, Float64Array);
    this.end = grown(this.end, Float64Array);
    this.kind = grown(this.kind, Uint8Array);
    this.bytes = grown(this.bytes, Uint32Array);
  }
}

class StepColumns {
  count = 0;
  start = new Float64Array(0);
  end = new Float64Array(0);
  chunk = new Int32Array(0);
  call = new Uint32Array(0);
  bytes = new Uint32Array(0);
  sealed = new Uint8Array(0);

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
    this.start = grown(this.start, Float64Array);
    this.end = grown(this.end, Float64Array);
    this.chunk = grown(this.chunk, Int32Array);
    this.call = grown(this.call, Uint32Array);
    this.bytes = grown(this.bytes, Uint32Array);
    this.sealed = grown(this.sealed, Uint8Array);
  }
}

/** Durable appends of one run. */
export class AppendColumns {
  readonly #limit: number;
  count = 0;
  start = new Float64Array(firstCapacity / 4);
  end = new Float64Array(firstCapacity / 4);
  events = new Uint32Array(firstCapacity / 4);
  runs = new Uint32Array(firstCapacity / 4);
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
    this.start = grown(this.start, Float64Array);
    this.end = grown(this.end, Float64Array);
    this.events = grown(this.events, Uint32Array);
    this.runs = grown(this.runs, Uint32Array);
  }
}

interface Column {
  readonly length: number;
}

function grown<C extends Column & { set(values: C): void }>(column: C, make: new (length: number) => C): C {
  const larger = new make(Math.max(firstCapacity, column.length * 2));
  larger.set(column);
  return larger;
}
