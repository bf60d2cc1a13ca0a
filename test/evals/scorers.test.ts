import { expect } from "chai";
import type { Runs } from "../../src/core/ports/runs.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import type { Scorer } from "../../src/evals/dataset/schema.ts";
import { junitXml } from "../../src/evals/report/junit.ts";
import { judgeWith } from "../../src/evals/scoring/judge.ts";
import type { Outcome } from "../../src/evals/scoring/outcome.ts";
import { openScorers, type Subject } from "../../src/evals/scoring/scorers.ts";
import { summarize } from "../../src/evals/stats/compare.ts";

const outcome: Outcome = { run: "r", ok: true, output: "yes", calls: [], unanswered: 0, ms: 5, tokens: 5, cost: 1 };
const failed: Outcome = { ...outcome, ok: false, code: "timeout" };
const subject: Subject = { id: "i", asked: "?", expect: {}, outcome, recorded: undefined, other: undefined };
const pair: Scorer = { type: "judge", agent: "judge", rubric: "good", pairwise: true };
const all: Scorer[] = [
  ...(["exact", "json", "schema", "regex", "calls"] as const).map((type) => ({ type })),
  { type: "tools", only: [] },
  { type: "latency", max: 10 },
  pair,
];

describe("a scorer", () => {
  const scoresOf = async (given: Partial<Subject>) => {
    const judge = async ({ pairwise }: { pairwise: boolean }, { other, recorded }: Subject) =>
      pairwise && (other ?? recorded) === undefined ? undefined : { score: 1 };
    const found: Record<string, number> = {};
    for (const { name, score } of await openScorers(all, { folder: ".", judge })) {
      const counted = await score({ ...subject, ...given });
      if (counted !== undefined) found[name] = counted.score;
    }
    return found;
  };

  it("with nothing to compare an item with counts it neither when it succeeds nor when it fails", async () => {
    expect(await scoresOf({})).to.deep.equal({ tools: 1, latency: 1 });
    expect(await scoresOf({ outcome: failed })).to.deep.equal({ tools: 0, latency: 1 });
  });

  it("gives a failed run 0 where there is something to compare it with", async () => {
    const expected = { output: "yes", json: {}, schema: { type: "object" }, regex: "y", calls: [] };
    const zero = { exact: 0, json: 0, schema: 0, regex: 0, calls: 0, tools: 0, latency: 1 };
    expect(await scoresOf({ outcome: failed, expect: expected })).to.deep.equal(zero);
    expect(await scoresOf({ outcome: failed, recorded: outcome })).to.deep.equal({
      ...{ exact: 0, calls: 0, tools: 0, latency: 1, judge: 0 },
    });
  });
});

describe("a judge", () => {
  const judged = async (answer: string) => {
    const last = { type: "run.finished", finish: "stop", output: answer, usage: {}, rounds: 1, timing: {} };
    const runs = {
      start: async () => ({ run: "j", existing: false }),
      async *follow() {
        yield [{ ...last, run: "j", seq: 1, at: 0 } as unknown as RunEvent];
      },
    } as unknown as Runs;
    const judge = judgeWith({ runs, key: "k", spent: () => {} });
    return await judge({ type: "judge", agent: "judge", rubric: "good", pairwise: false }, subject).then(
      (score) => score?.score,
      (thrown: unknown) => String(thrown),
    );
  };

  it("that answers with no number has judged nothing, instead of 0 or 1", async () => {
    expect(await judged('{"score": 0.5}')).to.equal(0.5);
    expect(await judged('{"score": "0.5"}')).to.equal(0.5);
    for (const score of ["null", '""', '" "', "[]", "true", '"high"', "2", "{}"])
      expect(await judged(`{"score": ${score}}`), score).to.contain(
        "eval.judge: invalid_input: the judge judge did not",
      );
  });
});

describe("JUnit XML of an eval", () => {
  it("has a failure for a run that failed, also when no scorer counts it", () => {
    const item = { id: "i", repeat: 1, run: "r", asked: "?", output: "", ms: 1, tokens: 1, unanswered: 0, scores: {} };
    const found = {
      ...{ venturi: "runset" as const, set: "s", name: "latest", at: 0, config: "c", scorers: ["exact"], skipped: [] },
      items: [
        { ...item, ok: true },
        { ...item, id: "j", ok: false, code: "timeout" },
      ],
    };
    const xml = junitXml(found, summarize(found, undefined, { thresholds: {} }));
    expect(xml).to.contain('failures="1"').and.to.contain('<failure message="the run failed: timeout">');
  });
});
