/** Of a difference of means: the estimate, and the interval that covers the true one in 95 of 100 cases. */
export interface Interval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

const resamples = 2_000;
const seed = 20_260;

/**
 * Paired bootstrap: items are drawn with replacement, both values of an item together. The same numbers in give the same
 * interval out. Undefined for no items.
 */
export function pairedInterval(differences: readonly number[]): Interval | undefined {
  return interval((draw) => meanOf(drawn(differences, draw)), meanOf(differences));
}

/**
 * The difference of two means, second less first, of groups that are drawn whole: the runs of a session are not independent.
 * Undefined when either has no value.
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

/** Whether the interval leaves out zero. */
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

/** mulberry32: small, and its period is long enough for some million draws. */
function generator(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
