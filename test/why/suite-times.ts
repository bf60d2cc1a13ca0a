import { expect } from "chai";
import { House } from "./house.ts";
import { type Planted, planted } from "./planted.ts";
import { configOf, modules } from "./planted-config.ts";
import { sameTimes } from "./told.ts";

/** Every planted problem, in one whole service: who shows a run's times shows the same. */
describe("one run has one set of times", function () {
  this.timeout(120_000);
  const house = new House({ config: configOf(planted), files: { "tools.mjs": modules } });
  const runs = new Map<Planted, string>();

  before(async () => {
    await house.start();
    const waiting = [...planted.entries()];
    const worker = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        runs.set(next[1], await play(house, ...next));
      }
    };
    await Promise.all(Array.from({ length: 4 }, worker));
  });
  after(() => house.close());

  for (const problem of planted) {
    it(`of ${problem.name}, whose cause is ${problem.cause}`, async () => {
      const run = runs.get(problem) ?? "";
      const why = await sameTimes(house, run);
      expect(why.cause, why.summary).to.equal(problem.cause);
      const summary = why.summary.replaceAll(/limited\d+/g, "limited").replaceAll(/anyone/gi, "ann");
      for (const pattern of problem.says) expect(summary).to.match(pattern);
    });
  }
});

async function play(house: House, index: number, { act, before = 0 }: Planted): Promise<string> {
  const agent = `subject${index}`;
  for (let n = 0; n < before; n++) await house.ended(await house.run(agent));
  const session = act === "queue" ? { session: "s" } : {};
  const first = act === "queue" ? await house.run("helper", session) : undefined;
  const run = await house.run(agent, session);
  if (first !== undefined) {
    await new Promise((resolve) => setTimeout(resolve, 700));
    await house.ask(`/v1/runs/${first}/cancel`, {});
  }
  if (act === "approve" || act === "deny") {
    const events = await house.has(run, "approval.requested");
    const asked = events.find((event) => event.type === "approval.requested");
    if (act === "approve") await new Promise((resolve) => setTimeout(resolve, 700));
    const answer = act === "approve" ? { approved: true } : { approved: false, reason: "too much" };
    await house.ask(`/v1/runs/${run}/approvals/${asked?.call}`, answer);
  }
  if (act === "cancel") {
    await house.has(run, "text.delta");
    await house.ask(`/v1/runs/${run}/cancel`, { reason: "enough" });
  }
  await house.ended(run);
  return run;
}
