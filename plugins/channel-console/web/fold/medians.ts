import { type TimePart, timeParts, timingKey } from "venturi/client/times";
import type { Digest } from "../state/api-types.ts";

export interface Medians {
  readonly count: number;
  readonly ms: number | undefined;
  readonly parts: Readonly<Record<TimePart, number | undefined>>;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly cost: number | undefined;
  readonly rounds: number | undefined;
}

/** The median of the known values; for an even count the mean of the middle two. */
export function median(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined).sort((left, right) => left - right);
  const upper = known[Math.floor(known.length / 2)];
  const lower = known[Math.floor((known.length - 1) / 2)];
  return upper === undefined || lower === undefined ? undefined : (upper + lower) / 2;
}

/** The agent's usual figures. Each is a separate median, so the parts need not add up. */
export function mediansOf(digests: readonly Digest[]): Medians {
  const of = (value: (digest: Digest) => number | undefined) => median(digests.map(value));
  return {
    count: digests.length,
    ms: of(({ ms }) => ms),
    parts: Object.fromEntries(
      timeParts.map((part) => [part, of(({ timing }) => timing && (timing[timingKey(part)] ?? 0))]),
    ) as Medians["parts"], // One entry per part.
    inputTokens: of(({ usage }) => usage?.inputTokens),
    outputTokens: of(({ usage }) => usage?.outputTokens),
    cost: of(({ cost }) => cost),
    rounds: of(({ rounds }) => rounds),
  };
}
