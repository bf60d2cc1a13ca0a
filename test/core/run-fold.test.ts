import { expect } from "chai";
import { silentLog } from "../../src/core/ports/log.ts";
import { noTelemetry } from "../../src/core/ports/telemetry.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { isAsked } from "../../src/core/run/questions.ts";
import { foldOf } from "../../src/core/run/recorded-fold.ts";
import { RunFold } from "../../src/core/run/run-fold.ts";
import { type Host, openHost } from "../../src/host/open.ts";
import { disagreements } from "../agreement.ts";
import { testFolder } from "../host/folder.ts";

const config = `
providers: { demo: { type: simulator, pace: 0 }, timed: { type: simulator, pace: 5 } }
models: { shaky: { chain: ["demo/count-30!cut@2000", demo/count-10], failover: retract } }
prices: { demo/calls-3: { input: 2, output: 10 } }
tools:
  calculator: { type: calculator }
  careful: { type: calculator, approval: always }
agents:
  plain: { model: demo/count-10 }
  calls: { model: demo/calls-3, tools: [calculator] }
  asks: { model: demo/calls-1, tools: [careful] }
  refused: { model: demo/calls-1, tools: [careful] }
  flaky: { model: shaky }
  retried: { model: "demo/count-5!fail=1:503" }
  bad: { model: "demo/m!status=400" }
  stopped: { model: timed/pace-20-60 }
journal: { type: memory }
channels: {}
`;

describe("the fold of a run", () => {
  const folder = testFolder();
  let host: Host;
  before(async () => {
    const configFile = folder.write({ "venturi.yaml": config });
    host = await openHost({ configFile, env: {}, log: silentLog, telemetry: noTelemetry });
  });
  after(() => host.close());

  const eventsOf = async (agent: string): Promise<RunEvent[]> => {
    const { run } = await host.runs.start({ agent, input: { text: "count" } });
    const events: RunEvent[] = [];
    for await (const batch of host.runs.follow(run)) {
      events.push(...batch);
      if (agent === "stopped" && batch.some(({ type }) => type === "text.delta")) await host.runs.cancel(run);
      for (const event of batch)
        if (isAsked(event)) await host.runs.signal(run, "approve", { call: event.call, approved: agent === "asks" });
    }
    return events;
  };

  const ends = {
    ...{ plain: "finished", calls: "finished", asks: "finished", refused: "finished" },
    ...{ flaky: "finished", retried: "finished", bad: "failed", stopped: "cancelled" },
  };
  for (const [agent, status] of Object.entries(ends)) {
    it(`says what the loop, the digest, the run's page, useRun and why say, of the agent ${agent}`, async () => {
      const events = await eventsOf(agent);
      expect(disagreements(events)).to.deep.equal([]);
      expect(foldOf(events).status).to.equal(status);
      const types = events.map(({ type }) => type);
      if (agent === "flaky") expect(types).to.include("round.retracted");
      if (agent === "retried") expect(types).to.include("generation.failed");
    });
  }

  it("an event that comes twice, or late, changes nothing", async () => {
    const events = await eventsOf("calls");
    const [once, twice] = [new RunFold(), new RunFold()];
    for (const event of events) once.take(event);
    for (const event of events.flatMap((each) => [each, each, ...events.slice(0, 2)])) twice.take(event);
    expect(twice).to.deep.equal(once);
  });
});
