import { createHash } from "node:crypto";
import { expect } from "chai";
import { silentLog } from "../../src/core/ports/log.ts";
import type { Case } from "../../src/evals/dataset/cases.ts";
import { evaluate } from "../../src/evals/evaluate.ts";
import { summarize } from "../../src/evals/stats/compare.ts";
import { type Host, openHost } from "../../src/host/open.ts";
import { Place } from "./place.ts";

const repetitions = 20;
const items = 30;
const systems = Array.from({ length: repetitions }, (_, index) => [`x${index}`, `y${index}`] as const);

/** Each answers wrongly in three cases of ten, drawn anew for each: two of them are equal, and never the same. */
const wrong = (model: string, amount: number): boolean =>
  model !== "good" && createHash("sha256").update(`${model}:${amount}`).digest().readUInt32BE(0) / 2 ** 32 < 0.3;

describe("20 comparisons of a system with itself", function () {
  this.timeout(240_000);
  const place = new Place(items, wrong, ["good", ...systems.flat()]);
  let host: Host;
  before(async () => {
    const models = systems.flat().map((model) => `demo/${model}`);
    const before = place.read("venturi.yaml");
    place.write(
      "venturi.yaml",
      before.replace("tools: [order] }", `tools: [order], overrides: { models: ${JSON.stringify(models)} } }`),
    );
    await place.record(items);
    host = await openHost({ configFile: place.file("venturi.yaml"), env: {}, log: silentLog, shadows: false });
  });
  after(async () => {
    await host.close();
    place.remove();
  });

  it("raise no more alarms than the stated 2.5 % each way allow, over real runs", async () => {
    const cases = place.runs.map((run): Case => ({ id: run, run, place: "", expect: {}, recordings: [] }));
    const scored = async (model: string) => {
      const { journal, runs } = host;
      const scorers = [{ type: "exact" as const }];
      const shared = { journal, runs, cases, scorers, folder: place.folder, unanswered: "fail" as const };
      return (await evaluate({ ...shared, key: model, model: `demo/${model}`, concurrency: 8 })).items;
    };
    const verdicts: string[] = [];
    let changed = 0;
    for (const [one, other] of systems) {
      const [before, after] = [await scored(one), await scored(other)];
      const found = { items: [...after], scorers: ["exact"], skipped: [] };
      const [exact] = summarize(found, before, { thresholds: {} }).scorers;
      verdicts.push(exact?.verdict ?? "");
      changed += (exact?.fell.length ?? 0) + (exact?.rose.length ?? 0);
    }
    const alarms = verdicts.filter((verdict) => verdict !== "same");
    console.log(
      `      of ${repetitions} comparisons: ${verdicts.filter((each) => each === "worse").length} worse, ${verdicts.filter((each) => each === "better").length} better`,
    );
    expect(verdicts).to.have.length(repetitions);
    expect(changed).to.be.greaterThan(repetitions * 5); // they are equal, not the same
    // Of 20 fair comparisons at 5 %, more than 3 alarms come in 1.6 of 100 cases.
    expect(alarms.length).to.be.at.most(3);
    expect(place.orders).to.equal(items);
  });
});
