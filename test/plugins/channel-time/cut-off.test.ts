import { expect } from "chai";
import { watched } from "../../../plugins/channel-time/schedule.ts";
import { ScheduleStates } from "../../../plugins/channel-time/schedule-state.ts";
import { ScheduleWatch } from "../../../plugins/channel-time/schedule-watch.ts";
import { Scheduler } from "../../../plugins/channel-time/scheduler.ts";
import { MemoryKeyValues } from "../../../plugins/memory/key-values.ts";
import type { KeyValues } from "../../../src/core/journal/key-values.ts";
import { systemClock } from "../../../src/core/ports/clock.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { StoredSchedule, StoredSchedules } from "../../../src/core/ports/schedules.ts";
import type { Service } from "../../../src/host/service.ts";
import { serviceOf, until } from "./world.ts";

const minute = 60_000;
const noon = Date.UTC(2026, 5, 1, 12);

describe("a schedule whose replica was killed", () => {
  let service: Service & { close(): Promise<void> };
  before(async () => {
    service = await serviceOf("agents: { assistant: { model: demo/small } }");
  });
  after(() => service.close());

  const made = (name: string, cron: string, createdAt: number) =>
    StoredSchedule.parse({
      name,
      cron,
      createdAt,
      tenant: "default",
      timezone: "UTC",
      agent: "assistant",
      input: { text: "Hi." },
      overlap: "skip",
      jitter: 0,
      catchUp: 60 * minute,
    });
  const timesOf = async (schedule: string) =>
    (await service.host.runs.list({ metadata: { schedule }, limit: 200 })).runs
      .map(({ request }) => String(request.metadata?.scheduledFor).slice(11, 16))
      .sort();

  it("while it was made or removed is found by the others, although nobody told them", async () => {
    const memory = new MemoryKeyValues(() => {});
    let reads = 0;
    const values: KeyValues = {
      get: memory.get.bind(memory),
      put: memory.put.bind(memory),
      remove: memory.remove.bind(memory),
      list: (...asked) => {
        reads += 1;
        return memory.list(...asked);
      },
    };
    /** Its change is stored, and no replica hears of it. */
    const killed = new StoredSchedules({
      ...values,
      put: (space, entry) => (entry.value === "-" ? Promise.reject(new Error("killed")) : values.put(space, entry)),
    });
    const clock = { ...systemClock, monotonic: () => systemClock.monotonic() * 100 };
    const { journal, runs } = service.host;
    const scheduler = new Scheduler({ clock, log: silentLog, runs: () => runs, journal, values, config: {} });
    scheduler.start();
    try {
      await until(() => reads > 0);
      await killed.add(made("unheard", "* * * * * *", Date.now())).catch(() => {});
      await until(async () => (await timesOf("unheard")).length > 0);
      await killed.remove("default", "unheard").catch(() => {});
      const before = reads;
      await until(() => reads > before + 1);
      const count = (await timesOf("unheard")).length;
      await until(() => reads > before + 4);
      expect(await timesOf("unheard")).to.have.length(count);
    } finally {
      await scheduler.stop();
    }
  });

  it("while it was removed starts no time from before it was made anew", async () => {
    const states = new ScheduleStates(new MemoryKeyValues(() => {}));
    const runs = () => service.host.runs;
    const first = await watched("api", made("again", "*/10 * * * *", noon + 1));
    await new ScheduleWatch(first, { runs, states }).look(noon + minute);
    const anew = await watched("api", made("again", "*/10 * * * *", noon + 35 * minute));
    const watch = new ScheduleWatch(anew, { runs, states });
    await watch.look(noon + 36 * minute);
    await watch.look(noon + 41 * minute);
    expect(await timesOf("again")).to.deep.equal(["12:40"]);
  });
});
