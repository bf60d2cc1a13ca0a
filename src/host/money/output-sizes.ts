/** Tokens reserved for an answer of a model without history. */
const unknown = 1_024;
const remembered = 200;
const enough = 20;
const mostModels = 1_000;

/** Estimates how long a model's answers get. */
export class OutputSizes {
  readonly #sizes = new Map<string, { sizes: number[]; next: number }>();

  add(model: string, tokens: number | undefined): void {
    if (tokens === undefined) return;
    const known = this.#sizes.get(model) ?? { sizes: [], next: 0 };
    known.sizes[known.next] = tokens;
    known.next = (known.next + 1) % remembered;
    if (this.#sizes.has(model) || this.#sizes.size < mostModels) this.#sizes.set(model, known);
  }

  /** The 95th percentile of recent answers. */
  likely(model: string): number {
    const { sizes = [] } = this.#sizes.get(model) ?? {};
    if (sizes.length < enough) return unknown;
    return sizes.toSorted((left, right) => left - right)[Math.floor(sizes.length * 0.95)] ?? unknown;
  }
}
