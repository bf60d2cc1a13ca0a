import { expect } from "chai";
import { Scheduler, type SchedulerDeps } from "../../../plugins/channel-time/scheduler.ts";
import { MemoryKeyValues } from "../../../plugins/memory/key-values.ts";
import { systemClock } from "../../../src/core/ports/clock.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { until } from "./world.ts";

describe("stored schedules that this release cannot read", () => {
  it("are warned of once, however often all are read, and go when they were over", async () => {
    const memory = new MemoryKeyValues(() => {});
    const shared = {
      tenant: "t",
      agent: "a",
      input: { text: "x" },
      overlap: "skip",
      jitter: 0,
      catchUp: 0,
      createdAt: 0,
    };
    const stored = {
      zone: { timezone: "Mars/Olympus" },
      number: { jitter: null },
      over: { timezone: "Mars", done: true },
    };
    for (const [name, rest] of Object.entries(stored)) {
      const value = JSON.stringify({ name, cron: "* * * * *", timezone: "UTC", ...shared, ...rest });
      await memory.put("schedules", { key: `of/t/${name}`, value, version: 0 });
    }
    let reads = 0;
    const values: SchedulerDeps["values"] = {
      get: memory.get.bind(memory),
      put: memory.put.bind(memory),
      remove: memory.remove.bind(memory),
      list: (...asked) => {
        reads += 1;
        return memory.list(...asked);
      },
    };
    const warned: unknown[] = [];
    const log = { ...silentLog, warn: (_: string, facts?: object) => void warned.push(facts) };
    // All are read at each look.
    const clock = { ...systemClock, monotonic: () => systemClock.monotonic() * 1_000 };
    const nobody = {} as SchedulerDeps["journal"]; // No run is asked for.
    const runs = () => expect.fail("nothing is due");
    const scheduler = new Scheduler({ clock, log, runs, journal: nobody, values, config: {} });
    scheduler.start();
    await until(() => reads > 2);
    await scheduler.stop();
    expect(warned).to.have.deep.members([{ key: "of/t/number" }, { key: "t/zone" }]);
    expect(await memory.get("schedules", "of/t/over")).to.equal(undefined);
  });
});
