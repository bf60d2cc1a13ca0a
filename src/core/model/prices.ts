import { z } from "zod";
import type { Usage } from "./usage.ts";

const usd = z.number("expected USD per million tokens").nonnegative("a price can't be negative");
const maxUsd = 1_000_000;
const perMillion = () => usd.max(maxUsd, "a price is in USD per million tokens");

const rates = {
  input: perMillion().describe("Tokens read."),
  output: perMillion().describe("Tokens written, reasoning included."),
  cacheRead: perMillion().optional().describe("Tokens read from the provider's cache; as `input` when absent."),
  cacheWrite: perMillion()
    .optional()
    .describe("Tokens written to the provider's cache for five minutes; as `input` when absent."),
  cacheWrite1h: perMillion().optional().describe("Tokens written to it for an hour; as `cacheWrite` when absent."),
};

/** What a model costs, in USD per million tokens. */
export const Price = z.strictObject({
  currency: z.literal("USD", "prices are in USD; convert them").optional().describe("`USD`, the only one there is."),
  ...rates,
  reasoning: perMillion().optional().describe("Tokens of reasoning; as `output` when absent."),
  imageInput: perMillion().optional().describe("Tokens of images read; as `input` when absent."),
  audioInput: perMillion().optional().describe("Tokens of audio read; as `input` when absent."),
  audioOutput: perMillion().optional().describe("Tokens of audio written; as `output` when absent."),
  long: z
    .strictObject({ over: z.number().int().positive().describe("Input tokens above which it applies."), ...rates })
    .optional()
    .describe("Replaces the above for generations that read more than `over` tokens."),
});
export type Price = z.output<typeof Price>;

/** The prices shipped with Venturi, by host of the provider's `baseUrl`. */
export const PriceList = z.strictObject({
  /** Date of the prices. */
  date: z.string(),
  vendors: z.array(z.strictObject({ host: z.string(), source: z.url(), models: z.record(z.string(), Price) })),
});
export type PriceList = z.output<typeof PriceList>;

/** The price of a model given as `provider/model`; undefined if unknown. */
export type PriceOf = (model: string) => Price | undefined;

/** Money is summed in whole billionths of a dollar, so sums are exact in any order and grouping. */
const perDollar = 1_000_000_000;
export const toNanos = (dollars: number): number => Math.round(dollars * perDollar);
export const toDollars = (nanos: number): number => nanos / perDollar;

/**
 * Cost of one generation in USD, to the billionth; undefined if its price or usage is unknown. A provider that reports no input or no
 * output reports no usage.
 */
export function costOf(usage: Usage, price: Price | undefined): number | undefined {
  if (price === undefined || (usage.inputTokens === undefined && usage.outputTokens === undefined)) return undefined;
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const rate = price.long !== undefined && inputTokens > price.long.over ? { ...price, ...price.long } : price;
  const written1h = Math.min(cacheWriteTokens, usage.cacheWrite1hTokens ?? 0);
  const cacheWrite = rate.cacheWrite ?? rate.input;
  // Input and output are totals. Parts with a price of their own are subtracted, never more than there is.
  const read = new Portions(inputTokens);
  const written = new Portions(outputTokens);
  const micros =
    read.take(cacheReadTokens) * (rate.cacheRead ?? rate.input) +
    read.take(written1h) * (rate.cacheWrite1h ?? cacheWrite) +
    read.take(cacheWriteTokens - written1h) * cacheWrite +
    read.take(usage.audioInputTokens) * (price.audioInput ?? rate.input) +
    read.take(usage.imageInputTokens) * (price.imageInput ?? rate.input) +
    read.left * rate.input +
    written.take(usage.audioOutputTokens) * (price.audioOutput ?? rate.output) +
    written.take(usage.reasoningTokens) * (price.reasoning ?? rate.output) +
    written.left * rate.output;
  return toDollars(Math.round(micros * (perDollar / 1_000_000)));
}

class Portions {
  left: number;
  constructor(total: number) {
    this.left = total;
  }
  take(tokens = 0): number {
    const taken = Math.min(tokens, this.left);
    this.left -= taken;
    return taken;
  }
}

/** A sum of costs; unknown as soon as one of them is. */
export class CostSum {
  #nanos = 0;
  #count = 0;
  #unknown = 0;

  add(cost: number | undefined): void {
    this.#count += 1;
    if (cost === undefined) this.#unknown += 1;
    else this.#nanos += toNanos(cost);
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** USD; undefined when empty or when a cost is unknown. */
  get usd(): number | undefined {
    return this.#count === 0 || this.#unknown > 0 ? undefined : toDollars(this.#nanos);
  }
}

/** The sum of both; an empty sum does not make the other unknown. */
export function addCosts(left: CostSum, right: CostSum): number | undefined {
  if (left.isEmpty) return right.usd;
  if (right.isEmpty) return left.usd;
  return left.usd === undefined || right.usd === undefined
    ? undefined
    : toDollars(toNanos(left.usd) + toNanos(right.usd));
}
