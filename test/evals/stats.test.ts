import { expect } from "chai";
import type { Measured } from "../../src/evals/scoring/run-set.ts";
import { groupedInterval, isSure, pairedInterval } from "../../src/evals/stats/bootstrap.ts";
import { summarize } from "../../src/evals/stats/compare.ts";

const measured = (id: number, score: number, more: Partial<Measured> = {}): Measured => ({
  id: String(id),
  repeat: 1,
  run: `run-${id}`,
  ok: true,
  asked: "",
  output: "",
  ms: 1,
  tokens: 1,
  unanswered: 0,
  scores: { exact: { score } },
  ...more,
});

/** A fixed sequence of 0 and 1. */
function coins(seed: number, share: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % 1_000 < share * 1_000 ? 1 : 0;
  };
}
const found = (items: Measured[]) => ({ items, scorers: ["exact"], skipped: [] });

describe("the statistics of an eval", () => {
  it("give the same interval for the same numbers, around their mean", () => {
    const differences = Array.from({ length: 50 }, (_, index) => (index % 5 === 0 ? -1 : 0));
    const interval = pairedInterval(differences);
    expect(interval).to.deep.equal(pairedInterval(differences));
    expect(interval?.mean).to.be.closeTo(-0.2, 1e-9);
    expect(interval?.low).to.be.within(-0.34, -0.28);
    expect(interval?.high).to.be.within(-0.12, -0.06);
    expect(pairedInterval([])).to.equal(undefined);
    expect(pairedInterval([0, 0, 0])).to.deep.equal({ mean: 0, low: 0, high: 0 });
  });

  it("call equal things different in about 5 % of comparisons of A with A: of 200, and of the first 20", () => {
    const alarms = Array.from({ length: 200 }, (_, seed) => {
      const flip = coins((seed + 1) * 7_919, 0.7);
      return isSure(pairedInterval(Array.from({ length: 50 }, () => flip() - flip())));
    });
    expect(alarms.filter(Boolean).length).to.be.within(3, 18);
    expect(alarms.slice(0, 20).filter(Boolean).length).to.be.at.most(2);
  });

  it("draw sessions whole: runs that say the same make an interval no narrower", () => {
    const session = (value: number, runs: number) => Array.from({ length: runs }, () => value);
    const flip = coins(17, 0.5);
    const [first, second] = [1, 2].map(() => Array.from({ length: 30 }, () => session(flip(), 1)));
    const repeated = [first, second].map((groups) => groups?.map(([value = 0]) => session(value, 10)) ?? []);
    expect(groupedInterval(repeated[0] ?? [], repeated[1] ?? [])).to.deep.equal(
      groupedInterval(first ?? [], second ?? []),
    );
    expect(groupedInterval([], [[1]])).to.equal(undefined);
    expect(groupedInterval([[0], [0]], [[1], [1]])).to.deep.equal({ mean: 1, low: 1, high: 1 });
  });

  it("fail a mean below its threshold, and a drop beyond the allowed one only when it is sure", () => {
    const before = Array.from({ length: 50 }, (_, id) => measured(id, 1));
    const after = before.map((_item, id) => measured(id, id % 5 === 0 ? 0 : 1));
    const failures = (thresholds: object) =>
      summarize(found(after), before, { thresholds: { exact: thresholds } }).failures;
    expect(failures({})[0]).to.match(/^exact: worse than the baseline by 0\.200 \(95 % interval -0\.\d+ … -0\.\d+\)$/);
    expect(failures({ drop: 0.25 })).to.deep.equal([]);
    expect(failures({ drop: 0.25, min: 0.9 })[0]).to.include("below 0.9");
  });

  it("count an item once, however often it is repeated, and name those that changed side", () => {
    const now = [1, 2, 3].map((repeat) => measured(1, repeat === 1 ? 1 : 0, { repeat }));
    const { scorers } = summarize(found(now), [measured(1, 1), measured(2, 0)], { thresholds: {} });
    expect(scorers[0]).to.deep.include({ items: 1, fell: ["1"], rose: [] });
  });

  it("say how far a judge agrees with people, on whatever scale they rate", () => {
    const rated = (id: number, rating: number, score: number) =>
      measured(id, 0, { rating, scores: { judge: { score, runs: ["j"] } } });
    const recorded = [rated(1, 5, 0.9), rated(2, 1, 0.2), rated(3, 3, 0.2)];
    const { scorers } = summarize({ items: [], scorers: ["judge"], skipped: [] }, undefined, {
      thresholds: {},
      recorded,
    });
    expect(scorers[0]?.agreement).to.deep.equal({ share: 2.5 / 3, pairs: 3 });
  });
});
