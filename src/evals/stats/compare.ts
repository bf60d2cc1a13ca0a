import type { Settings } from "../dataset/schema.ts";
import type { Measured, RunSet } from "../scoring/run-set.ts";
import { type Interval, isSure, meanOf, pairedInterval } from "./bootstrap.ts";

/** One scorer, over all items. */
export interface ScorerSummary {
  readonly scorer: string;
  readonly items: number;
  readonly mean: number;
  readonly baseline: number | undefined;
  /** Difference to the baseline, over items that both have. */
  readonly difference: Interval | undefined;
  readonly verdict: "better" | "worse" | "same" | "unknown";
  /** Items whose score fell below, or rose above, 0.5. */
  readonly fell: readonly string[];
  readonly rose: readonly string[];
  /** Agreement of a judge with people: how often they order two recorded runs alike, and over how many pairs. */
  readonly agreement?: { readonly share: number; readonly pairs: number };
  /** Why the scorer fails the eval. */
  readonly failures: readonly string[];
}

export interface Summary {
  readonly scorers: readonly ScorerSummary[];
  readonly measures: readonly {
    readonly name: "ms" | "tokens" | "cost";
    readonly mean: number;
    readonly baseline: number | undefined;
    readonly difference: Interval | undefined;
  }[];
  readonly failed: number;
  readonly unanswered: number;
  /** Reasons to exit with status 1. */
  readonly failures: readonly string[];
}

/**
 * A scorer counts as worse when the whole 95 % interval of its paired difference is below zero. So for each scorer 2.5 % of comparisons
 * between equals are reported as worse.
 */
export function summarize(
  found: Pick<RunSet, "items" | "scorers" | "skipped">,
  baseline: readonly Measured[] | undefined,
  { thresholds, recorded = [] }: { thresholds: Settings["thresholds"]; recorded?: readonly Measured[] },
): Summary {
  const scorers = found.scorers.map((scorer): ScorerSummary => {
    const now = byItem(found.items, ({ scores }) => scores[scorer]?.score);
    const before = byItem(baseline ?? [], ({ scores }) => scores[scorer]?.score);
    const pairs = [...now].flatMap(([id, value]) => {
      const other = before.get(id);
      return other === undefined ? [] : [{ id, value, other }];
    });
    const difference = pairedInterval(pairs.map(({ value, other }) => value - other));
    const mean = now.size === 0 ? Number.NaN : meanOf([...now.values()]);
    const verdict =
      difference === undefined ? "unknown" : !isSure(difference) ? "same" : difference.mean > 0 ? "better" : "worse";
    const { min, drop = 0 } = thresholds[scorer] ?? {};
    const low = min !== undefined && !(mean >= min) ? [`${scorer}: the mean ${figure(mean)} is below ${min}`] : [];
    const worse =
      verdict === "worse" && difference !== undefined && difference.mean < -drop
        ? [
            `${scorer}: worse than the baseline by ${figure(-difference.mean)} (95 % interval ${intervalText(difference)})`,
          ]
        : [];
    const agreement = agreementOf(recorded, scorer);
    return {
      scorer,
      items: now.size,
      mean,
      baseline: pairs.length === 0 ? undefined : meanOf(pairs.map(({ other }) => other)),
      difference,
      verdict,
      fell: pairs.filter(({ value, other }) => other >= 0.5 && value < 0.5).map(({ id }) => id),
      rose: pairs.filter(({ value, other }) => other < 0.5 && value >= 0.5).map(({ id }) => id),
      ...(agreement === undefined ? {} : { agreement }),
      failures: [...low, ...worse],
    };
  });
  const unanswered = found.items.reduce((sum, item) => sum + item.unanswered, 0);
  const left = found.skipped.length === 0 ? [] : [`the budget was used up: ${found.skipped.length} items were not run`];
  return {
    scorers,
    measures: (["ms", "tokens", "cost"] as const).map((name) => measure(name, found.items, baseline ?? [])),
    failed: found.items.filter(({ ok }) => !ok).length,
    unanswered,
    failures: [...scorers.flatMap(({ failures }) => failures), ...left],
  };
}

export const figure = (value: number): string => (Number.isNaN(value) ? "-" : value.toFixed(3));

export const intervalText = ({ low, high }: Interval, digits = 3): string =>
  `${signed(low, digits)} … ${signed(high, digits)}`;

export const signed = (value: number, digits = 3): string => `${value < 0 ? "" : "+"}${value.toFixed(digits)}`;

function measure(
  name: "ms" | "tokens" | "cost",
  items: readonly Measured[],
  baseline: readonly Measured[],
): Summary["measures"][number] {
  const now = byItem(items, (item) => item[name]);
  const before = byItem(baseline, (item) => item[name]);
  const pairs = [...now].flatMap(([id, value]) => (before.has(id) ? [[value, before.get(id) ?? 0] as const] : []));
  return {
    name,
    mean: now.size === 0 ? Number.NaN : meanOf([...now.values()]),
    baseline: pairs.length === 0 ? undefined : meanOf(pairs.map(([, other]) => other)),
    difference: pairedInterval(pairs.map(([value, other]) => value - other)),
  };
}

/** Mean over an item's repetitions, which are not independent, so that an item counts once. */
function byItem(items: readonly Measured[], read: (item: Measured) => number | undefined): Map<string, number> {
  const groups = Map.groupBy(items, ({ id }) => id);
  const means = [...groups].flatMap(([id, group]): [string, number][] => {
    const values = group.flatMap((item) => read(item) ?? []);
    return values.length === 0 ? [] : [[id, meanOf(values)]];
  });
  return new Map(means);
}

/** Independent of people's rating scale. A tie of the scorer counts half. */
function agreementOf(recorded: readonly Measured[], scorer: string): ScorerSummary["agreement"] {
  const rated = recorded.flatMap(({ rating, scores }) => {
    const given = scores[scorer];
    return rating === undefined || given?.runs === undefined ? [] : [{ rating, score: given.score }];
  });
  let agreed = 0;
  let pairs = 0;
  for (const [index, a] of rated.entries()) {
    for (const b of rated.slice(index + 1)) {
      if (a.rating === b.rating) continue;
      pairs += 1;
      const order = (a.score - b.score) * (a.rating - b.rating);
      agreed += order > 0 ? 1 : order === 0 ? 0.5 : 0;
    }
  }
  return pairs === 0 ? undefined : { share: agreed / pairs, pairs };
}
