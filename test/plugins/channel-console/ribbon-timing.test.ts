import { expect } from "chai";
import { foldAll } from "../../../plugins/channel-console/web/fold/fold.ts";
import type { Part } from "../../../plugins/channel-console/web/fold/ribbon.ts";
import type { EventOf } from "../../../src/core/run/events.ts";
import { Bench } from "../../host/api/bench.ts";

/** Parts of the ribbon, and the parts of a run's timing that they stand for. */
const timings: Readonly<Record<Part, (timing: EventOf<"run.finished">["timing"]) => number>> = {
  wait: ({ providerWait }) => providerWait,
  stream: ({ providerStream }) => providerStream,
  backoff: ({ retryWait }) => retryWait,
  tool: ({ tool }) => tool,
  approval: ({ approval }) => approval,
  runtime: ({ runtime, client, stalled }) => runtime + client + stalled,
};

describe("the console's ribbon beside the timing of the journal", function () {
  this.timeout(60_000);
  // An event and the clock of its part are read in different turns of the event loop: other processes may come between.
  this.retries(3);
  const bench = new Bench("memory");
  before(() => bench.open());
  after(() => bench.close());

  const compare = async (run: string) => {
    const events = (await bench.events(run)) as Parameters<typeof foldAll>[1] extends Iterable<infer E> ? E[] : never;
    const view = foldAll(run, events);
    const totals = view.ribbon.totals();
    const { timing } = view;
    const stalled = timing?.stalled ?? 0;
    if (timing === undefined) throw new Error("it has not ended");
    // The timing begins when the run is taken up, some milliseconds before its first event.
    const sum = (values: object) => Object.values(values).reduce((total: number, ms: number) => total + ms, 0);
    const earlier = Math.max(0, sum(timing) - sum(totals));
    for (const [part, of] of Object.entries(timings)) {
      // Times of events are whole milliseconds, so that each stretch may be off by one.
      const stretches = Math.max(1, view.ribbon.segments.filter((segment) => segment.part === part).length);
      const measured = of(timing as EventOf<"run.finished">["timing"]); // an exported type of the same schema
      const shown = totals[part as Part] + (part === "runtime" ? earlier : 0);
      // The timing takes a stall of the process out of the part it fell in; events do not tell stalls, so the ribbon leaves it there.
      const low = measured - stretches - (part === "runtime" ? stalled : 0);
      const high = measured + stretches + (part === "runtime" ? 0 : stalled);
      expect(shown, `${part} of ${run}`).to.be.within(low, high);
    }
  };

  it("agrees within a millisecond for each stretch of a part, whatever the run waited for", async () => {
    await compare(await bench.run("ada", "slowly"));
    await compare(await bench.run("ada", "What is 17 * 23?"));
    const { run, call } = await bench.question("ada");
    await new Promise((resolve) => setTimeout(resolve, 150));
    await bench.ask("ada", `/v1/runs/${run}/approvals/${call}`, { body: { approved: true } });
    await compare(run);
  });

  it("agrees but for the stall when the process was stalled", async () => {
    const slow = bench.run("ada", "slowly");
    await new Promise((resolve) => setTimeout(resolve, 500));
    for (const until = Date.now() + 400; Date.now() < until; );
    await compare(await slow);
  });
});
