import { z } from "zod";
import { vendorNumber } from "../values/vendor-number.ts";

/** Tokens of a generation or a run. A missing field was not reported; zero was reported as zero. */
export const Usage = z.strictObject({
  inputTokens: z.number().exactOptional(),
  outputTokens: z.number().exactOptional(),
  cacheReadTokens: z.number().exactOptional(),
  cacheWriteTokens: z.number().exactOptional(),
  /** Those of them that are cached for an hour. */
  cacheWrite1hTokens: z.number().exactOptional(),
  reasoningTokens: z.number().exactOptional(),
  /** Parts of input and output that some vendors price separately. */
  imageInputTokens: z.number().exactOptional(),
  audioInputTokens: z.number().exactOptional(),
  audioOutputTokens: z.number().exactOptional(),
  /** Origin of the figures; absent: fully reported by the provider. */
  source: z.enum(["reported", "partial", "estimated"]).exactOptional(),
});
export type Usage = z.output<typeof Usage>;

/** A run's usage broken down; the shares add up to the total. Absent when it only has successful generations of one model. */
export const Spent = z.array(
  z.strictObject({
    /**
     * `generation`: successful generations of a model. `failed`: failed attempts. `tool`: used by a tool itself. `compaction`: summaries.
     * `recall`: query vectors.
     */
    by: z.enum(["generation", "failed", "tool", "compaction", "recall"]),
    /** Model or tool name. */
    name: z.string(),
    count: z.number().int(),
    usage: Usage,
    /** USD; absent if unknown. */
    cost: z.number().exactOptional(),
  }),
);
export type Spent = z.output<typeof Spent>;

/** Usage copied with a fork's first events. The original paid for it, so it is in no sum of the fork. */
export const Inherited = z.strictObject({
  usage: Usage,
  spent: Spent,
  cost: z.number().exactOptional(),
  totalCost: z.number().exactOptional(),
});
export type Inherited = z.output<typeof Inherited>;

export const usageCounts = [
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "cacheWrite1hTokens",
  "reasoningTokens",
  "imageInputTokens",
  "audioInputTokens",
  "audioOutputTokens",
] as const;

/** Providers repeat growing totals, so later values overwrite earlier ones, field by field. */
export function mergeUsage(earlier: Usage | undefined, later: Usage): Usage {
  const checked = checkedUsage(later);
  return earlier === undefined ? checked : { ...earlier, ...checked };
}

/** Removes impossible figures: any server may report them, and sums and prices depend on them. */
export function checkedUsage(usage: Usage): Usage {
  const wrong: string[] = [];
  for (const key of usageCounts)
    if (usage[key] !== undefined && vendorNumber(usage[key]) === undefined) wrong.push(key);
  if (wrong.length === 0) return usage;
  const { source: _, ...rest } = Object.fromEntries(
    Object.entries(usage).filter(([key]) => !wrong.includes(key)),
  ) as Usage; // A subset of the same keys.
  return { ...rest, source: "partial" };
}

/** The sum over generations; partial if any term is partial. */
export function addUsage(left: Usage, right: Usage): Usage {
  const sum: Usage = {};
  for (const key of usageCounts) {
    const value = addOptional(left[key], right[key]);
    if (value !== undefined) sum[key] = value;
  }
  const source = weakest(left.source, right.source);
  if (source !== undefined) sum.source = source;
  return sum;
}

const addOptional = (left: number | undefined, right: number | undefined): number | undefined =>
  left === undefined ? right : left + (right ?? 0);

function weakest(left: Usage["source"], right: Usage["source"]): Usage["source"] {
  for (const source of ["estimated", "partial", "reported"] as const) {
    if (left === source || right === source) return source;
  }
  return undefined;
}
