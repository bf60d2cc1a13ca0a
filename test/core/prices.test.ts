import { expect } from "chai";
import fc from "fast-check";
import { costOf, type Price, toNanos } from "../../src/core/model/prices.ts";
import { costOfAll } from "../../src/core/run/costs.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { Spending } from "../../src/core/run/spending.ts";

const large: Price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75, cacheWrite1h: 6 };

describe("cost of a generation", () => {
  it("counts cached tokens as part of the input, those kept for an hour at their own price", () => {
    const usage = {
      inputTokens: 1_000_000,
      cacheReadTokens: 600_000,
      cacheWriteTokens: 100_000,
      cacheWrite1hTokens: 40_000,
      outputTokens: 200_000,
      reasoningTokens: 50_000,
    };
    expect(costOf(usage, large)).to.equal(0.3 * 3 + 0.6 * 0.3 + 0.06 * 3.75 + 0.04 * 6 + 0.2 * 15);
  });

  it("prices audio, images and reasoning apart where the price says so", () => {
    const usage = {
      inputTokens: 100,
      audioInputTokens: 40,
      imageInputTokens: 10,
      outputTokens: 50,
      audioOutputTokens: 20,
      reasoningTokens: 10,
    };
    const price = { input: 1, output: 2, audioInput: 100, imageInput: 10, audioOutput: 200, reasoning: 4 };
    expect(toNanos(costOf(usage, price) ?? 0)).to.equal((50 + 4000 + 100 + 40 + 4000 + 40) * 1000);
    expect(toNanos(costOf(usage, { input: 1, output: 2 }) ?? 0)).to.equal(200 * 1000);
  });

  it("takes the price of long prompts for the whole generation", () => {
    const price = { input: 1, output: 2, cacheRead: 0.1, long: { over: 1000, input: 10, output: 20 } };
    expect(costOf({ inputTokens: 1000, outputTokens: 1 }, price)).to.equal(0.001002);
    expect(costOf({ inputTokens: 1001, outputTokens: 1 }, price)).to.equal(0.01003);
  });

  it("is not known without a price or without usage, and zero where the price is zero", () => {
    expect(costOf({ inputTokens: 1 }, undefined)).to.equal(undefined);
    expect(costOf({}, large)).to.equal(undefined);
    expect(costOf({ cacheReadTokens: 5 }, large)).to.equal(undefined);
    expect(costOf({ inputTokens: 9 }, { input: 0, output: 0 })).to.equal(0);
  });

  it("never exceeds the dearest rate for all of its tokens, whatever a vendor reports as their parts", () => {
    const tokens = fc.option(fc.integer({ min: 0, max: 1e9 }), { nil: undefined });
    const keys = ["cacheReadTokens", "cacheWriteTokens", "cacheWrite1hTokens", "reasoningTokens", "audioInputTokens"];
    const usages = fc.record(Object.fromEntries(keys.map((key) => [key, tokens])));
    fc.assert(
      fc.property(usages, fc.nat(1e9), fc.nat(1e9), (parts, inputTokens, outputTokens) => {
        const cost = costOf({ ...parts, inputTokens, outputTokens } as never, large) ?? Number.NaN;
        expect(cost).to.be.within(0, ((inputTokens * 6 + outputTokens * 15) / 1e6) * (1 + 1e-12));
      }),
    );
  });
});

describe("costs of a run", () => {
  const usage = { inputTokens: 1_000_000, outputTokens: 0 };
  const told = (cost?: number) => (cost === undefined ? { usage } : { usage, cost });
  const billOf = (...bodies: object[]) => {
    const spending = new Spending();
    for (const [index, body] of bodies.entries())
      spending.apply({ run: "run_1", at: 0, seq: index + 1, ...body } as RunEvent);
    return spending.bill;
  };
  const round = { type: "round.started", model: "a/small", round: 1, attempt: 1 };
  const generated = (cost?: number) => ({ type: "generation.finished", ...told(cost) });
  const called = (cost?: number) => ({ type: "tool.finished", name: "researcher", ...told(cost) });

  it("are its own generations, and with what its tools spent the total", () => {
    const bill = billOf(round, generated(0.1), { type: "generation.failed", model: "b/x", ...told(0.2) }, called(0.4));
    expect([bill.cost, bill.totalCost, costOfAll(bill)]).to.deep.equal([0.3, 0.7, 0.7]);
    const shares = bill.spent?.map(({ by, cost }) => [by, cost]);
    expect(shares).to.deep.equal([
      ["generation", 0.1],
      ["failed", 0.2],
      ["tool", 0.4],
    ]);
    const alone = billOf(round, generated(0.1));
    expect([alone.cost, alone.totalCost, costOfAll(alone)]).to.deep.equal([0.1, undefined, 0.1]);
  });

  it("are not known once one of them is not; an unknown cost of a tool leaves its own known", () => {
    const bill = billOf(round, generated(0.1), called());
    expect([bill.cost, bill.totalCost, costOfAll(bill)]).to.deep.equal([0.1, undefined, undefined]);
    expect(billOf(round, generated(0.1), generated()).cost).to.equal(undefined);
    expect(billOf(round).cost).to.equal(undefined);
  });

  it("add up exactly, in any order", () => {
    const costs = fc.array(fc.integer({ min: 0, max: 2_000_000_000 }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(costs, (nanos) => {
        const sum = nanos.reduce((left, right) => left + right, 0);
        expect(toNanos(billOf(round, ...nanos.map((one) => generated(one / 1e9))).cost ?? 0)).to.equal(sum);
        expect(toNanos(billOf(round, ...nanos.reverse().map((one) => generated(one / 1e9))).cost ?? 0)).to.equal(sum);
      }),
    );
  });
});
