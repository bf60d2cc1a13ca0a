import { expect } from "chai";
import { Waits } from "../../../src/agent/run/waits.ts";
import type { EventBody } from "../../../src/core/run/events.ts";
import { EventLoopMonitor, type Stall } from "../../../src/host/system/event-loop.ts";

describe("collections of garbage", () => {
  let now = 0;
  const clock = { now: () => now, monotonic: () => now, after: () => () => {}, turn: () => {} };
  const opened = () => {
    now = 10_000;
    const reports: Stall[] = [];
    return { monitor: new EventLoopMonitor(clock, (stall) => reports.push(stall)), reports };
  };
  const waitedOf = (waits: Waits) => {
    const body = { type: "run.resumed" } as EventBody; // any step
    waits.putOn(body, 0);
    return "waited" in body ? body.waited : undefined;
  };

  it("that take at least 200 ms of a second count as a stall; shorter ones do not", () => {
    const { monitor, reports } = opened();
    const collection = (startTime: number, duration: number) => monitor.collected([{ startTime, duration }]);
    for (let n = 0; n < 50; n += 1) collection(10_000 + n * 100, 15);
    expect(monitor.since(0)).to.deep.equal([]);
    for (let n = 0; n < 5; n += 1) collection(20_000 + n * 100, 45);
    expect(monitor.since(0)).to.deep.equal([
      { order: 1, part: "gc", from: 20_000, ms: 225, culprit: undefined, isGuess: true, busy: true },
    ]);
    expect(reports.map(({ part, ms }) => [part, ms])).to.deep.equal([["gc", 225]]);
    expect(monitor.recent().blockedMs).to.equal(0);
  });

  it("are charged to the code that ran alone, else to the only one in progress, and to nobody if there are two", () => {
    const { monitor } = opened();
    const waits = new Waits(clock, monitor, { tenant: "a" });
    const culprit = (what: string, tenant = "a") => ({ what, run: "r", tenant });
    const end = monitor.during(culprit("tool one"));
    now += 1_000;
    monitor.collected([{ startTime: now - 300, duration: 300 }]);
    const endOther = monitor.during(culprit("tool two"));
    now += 1_000;
    monitor.collected([{ startTime: now - 300, duration: 300 }]);
    monitor.blame(culprit("tool two"), 200);
    monitor.collected([{ startTime: now - 300, duration: 300 }]);
    end();
    endOther();
    now += 1_000;
    monitor.blame(culprit("tool two", "b"), 300);
    monitor.collected([{ startTime: now - 300, duration: 300 }]);
    const names = waitedOf(waits)?.map(({ for: part, name }) => `${part} ${name}`);
    expect(names).to.deep.equal([
      "gc something, while tool one of run r ran,",
      "gc undefined",
      "gc tool two of run r",
      "gc another tenant's run",
    ]);
    expect(waitedOf(waits)).to.equal(undefined);
  });
});
