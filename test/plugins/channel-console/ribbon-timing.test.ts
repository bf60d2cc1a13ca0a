import { expect } from "chai";
import { foldAll } from "../../../plugins/channel-console/web/fold/fold.ts";
import { timeParts, timingKey } from "../../../src/core/run/time-parts.ts";
import { Bench } from "../../host/api/bench.ts";

describe("the console's ribbon beside the timing of the journal", function () {
  this.timeout(180_000);
  const bench = new Bench("memory");
  before(() => bench.open());
  after(() => bench.close());

  const compare = async (run: string) => {
    const events = (await bench.events(run)) as Parameters<typeof foldAll>[1] extends Iterable<infer E> ? E[] : never;
    const view = foldAll(run, events);
    const totals = view.times.totals();
    const { timing } = view.end ?? {};
    if (timing === undefined) throw new Error("it has not ended");
    const more = timeParts.map((part) => totals[part] - (timing[timingKey(part)] ?? 0)).sort((a, b) => b - a);
    // The last event is written after its timing was computed, so that one part goes on for a while.
    for (const ms of more.slice(1)) expect(ms, run).to.be.within(0, 2);
    expect(more[0]).to.be.at.least(0);
    return totals;
  };

  it("agrees, whatever the run waited for", async () => {
    await compare(await bench.run("ada", "slowly"));
    await compare(await bench.run("ada", "What is 17 * 23?"));
    const { run, call } = await bench.question("ada");
    await new Promise((resolve) => setTimeout(resolve, 150));
    await bench.ask("ada", `/v1/runs/${run}/approvals/${call}`, { body: { approved: true } });
    await compare(run);
  });

  it("agrees when the process was stalled, and shows it", async () => {
    const slow = bench.run("ada", "slowly");
    await new Promise((resolve) => setTimeout(resolve, 500));
    for (const until = Date.now() + 400; Date.now() < until; );
    expect((await compare(await slow)).blocked).to.be.at.least(300);
  });
});
