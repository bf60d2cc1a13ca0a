import { expect } from "chai";
import { costOf } from "../../src/core/model/prices.ts";
import type { Spent } from "../../src/core/model/usage.ts";

const prices = {
  "a/large": { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
  "a/small": { input: 1, output: 2 },
};
const share = (by: Spent[number]["by"], name: string, usage: Spent[number]["usage"]): Spent[number] => ({
  by,
  name,
  count: 1,
  usage,
});

describe("cost of a run", () => {
  it("adds up generations and failed attempts of each model at its price; cached tokens are part of the input", () => {
    const spent = [
      share("generation", "a/large", {
        inputTokens: 1_000_000,
        cacheReadTokens: 600_000,
        cacheWriteTokens: 100_000,
        outputTokens: 200_000,
        reasoningTokens: 50_000,
      }),
      share("failed", "a/small", { inputTokens: 500_000, cacheReadTokens: 500_000 }),
    ];
    expect(costOf(spent, prices)).to.be.closeTo(0.3 * 3 + 0.6 * 0.3 + 0.1 * 3.75 + 0.2 * 15 + 0.5, 1e-9);
  });

  it("leaves what a tool used to the runs that the tool called", () => {
    const own = share("generation", "a/small", { inputTokens: 1_000_000, outputTokens: 0 });
    expect(costOf([own, share("tool", "researcher", { inputTokens: 5_000_000 })], prices)).to.equal(1);
  });

  it("is not known without the price or the usage of one model, and for a run that asked none", () => {
    const known = share("generation", "a/small", { inputTokens: 10, outputTokens: 1 });
    expect(costOf([known, share("failed", "b/other", { inputTokens: 1 })], prices)).to.equal(undefined);
    expect(costOf([known, share("generation", "a/large", {})], prices)).to.equal(undefined);
    expect(costOf([], prices)).to.equal(undefined);
    expect(costOf([share("generation", "toString", { inputTokens: 1 })], prices)).to.equal(undefined);
  });

  it("is zero where the price is zero", () => {
    expect(costOf([share("generation", "x", { inputTokens: 9 })], { x: { input: 0, output: 0 } })).to.equal(0);
  });
});
