import { z } from "zod";
import type { Spent, Usage } from "./usage.ts";

const usd = z.number().nonnegative();

/** What a model costs, in USD per million tokens. */
export const Price = z.strictObject({
  input: usd.describe("Tokens read."),
  output: usd.describe("Tokens written, reasoning included."),
  cacheRead: usd.optional().describe("Tokens read from the provider's cache; as `input` when absent."),
  cacheWrite: usd.optional().describe("Tokens written to the provider's cache; as `input` when absent."),
});
export type Price = z.output<typeof Price>;

/** By model, as `provider/model`. */
export type Prices = Readonly<Record<string, Price>>;

/**
 * What a run's own generations cost, in USD; undefined when the price of one of its models, or what one used, is not known. Runs
 * that its tools called have a cost of their own.
 */
export function costOf(spent: Spent, prices: Prices): number | undefined {
  let sum: number | undefined;
  for (const { by, name, usage } of spent) {
    if (by === "tool") continue;
    const price = Object.hasOwn(prices, name) ? prices[name] : undefined;
    const cost = price === undefined ? undefined : costOfUsage(usage, price);
    if (cost === undefined) return undefined;
    sum = (sum ?? 0) + cost;
  }
  return sum === undefined ? undefined : Number(sum.toPrecision(12));
}

/** `inputTokens` includes the cached ones. A provider that reports no input or no output reports no usage. */
function costOfUsage(usage: Usage, price: Price): number | undefined {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  const plain = Math.max(0, (inputTokens ?? 0) - cacheReadTokens - cacheWriteTokens);
  const micros =
    plain * price.input +
    cacheReadTokens * (price.cacheRead ?? price.input) +
    cacheWriteTokens * (price.cacheWrite ?? price.input) +
    (outputTokens ?? 0) * price.output;
  return micros / 1_000_000;
}
