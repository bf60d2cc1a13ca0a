import { expect } from "chai";
import type { Runs } from "../../src/core/ports/runs.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { runTrace } from "../../src/serve/run-trace.ts";

const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const started = (run: string, more: object = {}): RunEvent =>
  ({ type: "run.started", run, seq: 1, at: 1, agent: "a", input: { text: "hi" }, ...more }) as RunEvent; // a beginning

/** Runs with these events so far, counting how often they are read. */
function runsWith(events: RunEvent[], row: { state: string; request?: object } = { state: "done" }) {
  const counted = { reads: 0 };
  const runs = {
    events: async (_run: string, { after = 0 } = {}) => {
      counted.reads += 1;
      return { events: events.filter(({ seq }) => seq > after).slice(0, 1), next: undefined };
    },
    get: async () => ({ request: {}, ...row }),
  } as unknown as Pick<Runs, "get" | "events">;
  return { runs, counted };
}

describe("the trace of a run", () => {
  it("is read once, however many ask at once or later: its first event may be as large as a request", async () => {
    const { runs, counted } = runsWith([started("run_once", { trace })]);
    const asked = Array.from({ length: 120 }, () => runTrace(runs, "run_once"));
    expect(new Set(await Promise.all(asked))).to.deep.equal(new Set([trace]));
    expect(await runTrace(runs, "run_once")).to.equal(trace);
    expect(counted.reads).to.equal(1);
  });

  it("is looked for again while there is none", async () => {
    const events: RunEvent[] = [];
    const { runs } = runsWith(events, { state: "ready" });
    expect(await runTrace(runs, "run_queued")).to.equal(undefined);
    events.push(started("run_queued", { trace }));
    expect(await runTrace(runs, "run_queued")).to.equal(trace);
  });

  it("is waited for when a worker has the run", async () => {
    const events: RunEvent[] = [];
    const { runs } = runsWith(events, { state: "running" });
    const asked = runTrace(runs, "run_coming");
    setTimeout(() => events.push(started("run_coming", { trace })), 20);
    expect(await asked).to.equal(trace);
  });

  it("is none of a run that was not traced, and an error is not remembered", async () => {
    expect(await runTrace(runsWith([started("run_plain")]).runs, "run_plain")).to.equal(undefined);
    const broken = { events: () => Promise.reject(new Error("busy")), get: () => Promise.reject(new Error("busy")) };
    const thrown = await runTrace(broken, "run_broken").catch((error: unknown) => error);
    expect(thrown).to.be.instanceOf(Error);
    expect(await runTrace(runsWith([started("run_broken", { trace })]).runs, "run_broken")).to.equal(trace);
  });

  it("of a fork is its own, not the original's", async () => {
    const fork = { fork: { run: "run_0", after: 1 } };
    const resumed = { type: "run.resumed", run: "run_fork", seq: 2, at: 2, epoch: 1, trace } as RunEvent; // its first step
    expect(await runTrace(runsWith([started("run_fork", fork), resumed]).runs, "run_fork")).to.equal(trace);
  });
});
