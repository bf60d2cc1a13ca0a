/** A difference of means and its 95 % confidence interval. */
export interface Interval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

const resamples = 2_000;
const seed = 20_260;

/** Paired bootstrap: items are drawn with replacement, both values of an item together. Deterministic. Undefined without items. */
export function pairedInterval(differences: readonly number[]): Interval | undefined {
  return interval((draw) => meanOf(drawn(differences, draw)), meanOf(differences));
}

/**
 * Interval for the difference of two means, second minus first, drawing whole groups: the runs of a session are not independent. Undefined
 * when either has no value.
 */
export function groupedInterval(
  first: readonly (readonly number[])[],
  second: readonly (readonly number[])[],
): Interval | undefined {
  const difference = (one: readonly (readonly number[])[], other: readonly (readonly number[])[]) =>
    meanOf(other.flat()) - meanOf(one.flat());
  return interval((draw) => difference(drawn(first, draw), drawn(second, draw)), difference(first, second));
}

export const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Whether the interval excludes zero. */
export const isSure = (found: Interval | undefined): found is Interval =>
  found !== undefined && (found.low > 0 || found.high < 0);

function interval(resample: (draw: () => number) => number, mean: number): Interval | undefined {
  if (Number.isNaN(mean)) return undefined;
  const draw = generator(seed);
  const means = Array.from({ length: resamples }, () => resample(draw)).sort((left, right) => left - right);
  const at = (share: number) => means[Math.min(resamples - 1, Math.floor(share * resamples))] ?? mean;
  return { mean, low: at(0.025), high: at(0.975) };
}

const drawn = <T>(values: readonly T[], draw: () => number): T[] =>
  values.map((value) => values[Math.floor(draw() * values.length)] ?? value);

/** mulberry32: small, with a period long enough for a few million draws. */
function generator(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
