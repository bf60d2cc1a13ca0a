import { type SpanContext, TraceFlags } from "@opentelemetry/api";

/** A measurement that links a bucket to the trace it was taken in. */
export interface Exemplar {
  readonly value: number;
  readonly traceId: string;
  readonly spanId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** One series of a histogram. */
export class Distribution {
  readonly #boundaries: readonly number[];
  readonly counts: number[];
  /** The latest exemplar per bucket; undefined until there is one. */
  exemplars: (Exemplar | undefined)[] | undefined;
  sum = 0;
  count = 0;

  constructor(boundaries: readonly number[]) {
    this.#boundaries = boundaries;
    this.counts = new Array<number>(boundaries.length + 1).fill(0);
  }

  record(value: number, within?: SpanContext): void {
    const boundaries = this.#boundaries;
    let bucket = 0;
    while (bucket < boundaries.length && value > (boundaries[bucket] ?? 0)) bucket++;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += value;
    this.count++;
    if (within === undefined || (within.traceFlags & TraceFlags.SAMPLED) === 0) return;
    this.exemplars ??= new Array<Exemplar | undefined>(this.counts.length);
    this.exemplars[bucket] = { value, traceId: within.traceId, spanId: within.spanId, at: Date.now() };
  }
}
