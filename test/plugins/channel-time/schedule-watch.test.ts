import { expect } from "chai";
import { fromConfig, type Schedule, watched } from "../../../plugins/channel-time/schedule.ts";
import { ScheduleOptions } from "../../../plugins/channel-time/schedule-options.ts";
import { ScheduleStates } from "../../../plugins/channel-time/schedule-state.ts";
import { ScheduleWatch } from "../../../plugins/channel-time/schedule-watch.ts";
import { MemoryKeyValues } from "../../../plugins/memory/key-values.ts";
import type { KeyValues } from "../../../src/core/journal/key-values.ts";
import type { Runs } from "../../../src/core/ports/runs.ts";
import type { Service } from "../../../src/host/service.ts";
import { serviceOf, until } from "./world.ts";

const minute = 60_000;
const noon = Date.UTC(2026, 5, 1, 12);
let count = 0;

const bound = (values: MemoryKeyValues): KeyValues => ({
  get: values.get.bind(values),
  put: values.put.bind(values),
  remove: values.remove.bind(values),
  list: values.list.bind(values),
});

describe("a schedule", () => {
  let service: Service & { close(): Promise<void> };
  before(async () => {
    service = await serviceOf(
      "agents: { assistant: { model: demo/small }, asking: { model: demo/small, tools: [clock] } }\ntools: { clock: { type: clock, approval: always } }",
    );
  });
  after(() => service.close());

  const schedule = async (rest: object = {}): Promise<Schedule> => {
    const options = ScheduleOptions.parse({ cron: "*/10 * * * *", agent: "assistant", input: "Hi.", ...rest });
    return await watched("config", fromConfig(`s${++count}`, options, noon));
  };
  /** Replicas share the journal and the key values; what one has in memory is its own. */
  const replicas = (each: Schedule, number = 1, runs: Runs = service.host.runs) => {
    const states = new ScheduleStates(new MemoryKeyValues(() => {}));
    const fresh = () => new ScheduleWatch(each, { runs: () => runs, states });
    return { states, fresh, watches: Array.from({ length: number }, fresh) };
  };
  /** As the scheduler does: a queued start is due until the run before it has ended. */
  const settle = async (watch: ScheduleWatch | undefined, now: number) =>
    await until(async () => {
      await watch?.look(now);
      return (watch?.dueAt(now) ?? Number.POSITIVE_INFINITY) > now;
    });
  const startsOf = async ({ definition }: Schedule): Promise<string[]> => {
    const { runs } = await service.host.runs.list({ metadata: { schedule: definition.name }, limit: 200 });
    return runs.map(({ request }) => String(request.metadata?.scheduledFor).slice(11, 16)).sort();
  };

  it("starts each time once on three replicas that look at the same moment, and again and again", async () => {
    const each = await schedule();
    const { watches } = replicas(each, 3);
    for (let now = noon; now <= noon + 35 * minute; now += 5 * minute) {
      await Promise.all(watches.map((watch) => settle(watch, now)));
      await Promise.all(watches.map((watch) => watch.look(now)));
    }
    expect(await startsOf(each)).to.deep.equal(["12:10", "12:20", "12:30"]);
  });

  it("knows of a run whose start could not be stored, and stores it later", async () => {
    const each = await schedule({ agent: "asking", overlap: "skip" });
    const values = new MemoryKeyValues(() => {});
    let broken = false;
    const put: typeof values.put = (...entry) => (broken ? Promise.reject(new Error("down")) : values.put(...entry));
    const states = new ScheduleStates({ ...bound(values), put });
    const watch = new ScheduleWatch(each, { runs: () => service.host.runs, states });
    await watch.look(noon);
    broken = true;
    const failed = await watch.look(noon + 10 * minute).catch((thrown: Error) => thrown.message);
    expect([failed, watch.dueAt(noon + 10 * minute)]).to.deep.equal(["down", noon + 10 * minute + 1_000]);
    broken = false;
    await watch.look(noon + 20 * minute);
    const [second, first] = (await states.read(each.definition))?.starts ?? [];
    expect(second?.skipped).to.equal(`${first?.run} is still under way`);
    expect(await startsOf(each)).to.deep.equal(["12:10"]);
    await service.host.runs.cancel(first?.run ?? "");
  });

  it("does not start made-up times at once", async () => {
    const each = await schedule({ agent: "asking", overlap: "queue", catchUp: "1h" });
    const { watches, states } = replicas(each);
    await watches[0]?.look(noon);
    await watches[0]?.look(noon + 35 * minute);
    expect(await startsOf(each)).to.deep.equal(["12:10"]);
    await service.host.runs.cancel((await states.read(each.definition))?.starts[0]?.run ?? "");
  });

  for (const [when, now] of [
    ["while", 12],
    ["after", 38],
  ] as const) {
    it(`makes up for what only a replica with a clock ahead was there for, ${when} that clock is ahead`, async () => {
      const each = await schedule({ catchUp: "2h" });
      const { watches, fresh } = replicas(each, 2);
      const [ahead, right] = watches;
      await ahead?.look(noon + 25 * minute);
      await right?.look(noon + minute);
      await settle(ahead, noon + 35 * minute);
      await settle(fresh(), noon + now * minute);
      const wanted = now > 20 ? ["12:10", "12:20", "12:30"] : ["12:10", "12:30"];
      expect(await startsOf(each)).to.deep.equal(wanted);
    });
  }

  it("does not make up for times before it existed", async () => {
    const each = await schedule();
    const [watch] = replicas(each).watches;
    await watch?.look(noon + 5 * minute);
    await watch?.look(noon + 6 * minute);
    expect(await startsOf(each)).to.deep.equal([]);
  });

  it("makes up for times missed within catchUp, and skips older ones", async () => {
    const each = await schedule({ catchUp: "25m" });
    const { watches, fresh } = replicas(each);
    await watches[0]?.look(noon);
    // Nothing ran for an hour.
    await settle(fresh(), noon + 61 * minute);
    expect(await startsOf(each)).to.deep.equal(["12:40", "12:50", "13:00"]);
  });

  it("does not start what was started before its runs and their keys were pruned", async () => {
    const each = await schedule();
    const { watches, fresh } = replicas(each);
    await watches[0]?.look(noon);
    await settle(watches[0], noon + 21 * minute);
    const { runs } = await service.host.runs.list({ metadata: { schedule: each.definition.name } });
    for (const { run } of runs) await service.host.runs.remove(run);
    await fresh().look(noon + 22 * minute);
    expect(await startsOf(each)).to.deep.equal([]);
  });

  it("under a clock that is set ahead and back starts every time once, also those it was not there for", async () => {
    const each = await schedule();
    const { watches, fresh } = replicas(each, 2);
    for (const watch of watches) await watch.look(noon);
    await settle(watches[0], noon + 11 * minute);
    await settle(watches[0], noon + 30 * 24 * 60 * minute); // a month ahead
    const ahead = (await startsOf(each)).length;
    expect(ahead).to.equal(7); // 12:10, and the last hour before then: 11:10 to 12:00
    for (const now of [31, 25, 31, 41])
      for (const watch of [...watches, fresh()]) await settle(watch, noon + now * minute);
    const today = (await service.host.runs.list({ metadata: { schedule: each.definition.name }, limit: 200 })).runs
      .map(({ request }) => String(request.metadata?.scheduledFor))
      .filter((time) => time.startsWith("2026-06-01"))
      .map((time) => time.slice(11, 16))
      .sort();
    expect(today).to.deep.equal(["12:10", "12:20", "12:30", "12:40"]);
  });

  it("that was made under a clock a year ahead goes by the right one", async () => {
    const each = await schedule();
    const { watches } = replicas(each);
    await watches[0]?.look(noon + 365 * 24 * 60 * minute);
    await watches[0]?.look(noon + minute);
    await watches[0]?.look(noon + 11 * minute);
    expect(await startsOf(each)).to.deep.equal(["12:10"]);
  });

  it("does nothing while the clock stands still, and continues with it", async () => {
    const each = await schedule();
    const [watch] = replicas(each).watches;
    for (let looked = 0; looked < 50; looked++) await watch?.look(noon + 9 * minute);
    expect(await startsOf(each)).to.deep.equal([]);
    expect(watch?.dueAt(noon + 9 * minute)).to.equal(noon + 10 * minute);
    await watch?.look(noon + 10 * minute);
    expect(await startsOf(each)).to.deep.equal(["12:10"]);
  });

  it("tries a start again that the journal could not take, and loses none of those behind it", async () => {
    const each = await schedule();
    let failures = 3;
    const { VenturiError } = await import("../../../src/core/errors/errors.ts");
    const runs: Runs = Object.create(service.host.runs, {
      start: {
        value: (...args: Parameters<Runs["start"]>) => {
          if (failures-- > 0) throw new VenturiError("journal.enqueue", "journal_failed", "down");
          return service.host.runs.start(...args);
        },
      },
      get: { value: (run: string) => service.host.runs.get(run) },
    });
    const { watches } = replicas(each, 1, runs);
    await watches[0]?.look(noon);
    for (let now = 21; now < 26; now++) await settle(watches[0], noon + now * minute);
    expect(await startsOf(each)).to.deep.equal(["12:10", "12:20"]);
  });

  it("delays each start by the same jitter on every replica, and keeps its time in the key", async () => {
    const each = await schedule({ jitter: "8m" });
    const { watches } = replicas(each, 2);
    for (const watch of watches) await watch.look(noon);
    await watches[0]?.look(noon + 10 * minute);
    const due = watches[0]?.dueAt(noon + 10 * minute) ?? 0;
    expect(due).to.be.within(noon + 10 * minute, noon + 18 * minute);
    await watches[1]?.look(noon + 10 * minute);
    expect(watches[1]?.dueAt(noon + 10 * minute)).to.equal(due);
    await watches[1]?.look(due - 1);
    expect(await startsOf(each)).to.deep.equal([]);
    for (const watch of watches) await watch.look(due);
    expect(await startsOf(each)).to.deep.equal(["12:10"]);
  });

  it("leaves out, queues or cancels while the last run is under way", async () => {
    const outcome: Record<string, unknown> = {};
    for (const overlap of ["skip", "queue", "cancel"]) {
      const each = await schedule({ overlap, agent: "asking", input: "What time is it?" });
      const { watches, states } = replicas(each);
      await watches[0]?.look(noon);
      await watches[0]?.look(noon + 11 * minute);
      const { runs } = await service.host.runs.list({ metadata: { schedule: each.definition.name } });
      await until(async () => (await service.host.runs.get(runs[0]?.run ?? "")).asking > 0); // it waits for a person
      await watches[0]?.look(noon + 21 * minute);
      const first = await service.host.runs.get(runs[0]?.run ?? "");
      const state = await states.read(each.definition);
      outcome[overlap] = [await startsOf(each), first.state, state?.starts[0]?.skipped !== undefined];
      if (first.state === "done") continue;
      await service.host.runs.cancel(first.run);
      await watches[0]?.look(noon + 22 * minute);
      outcome[`${overlap} then`] = await startsOf(each);
    }
    expect(outcome.skip).to.deep.include.members([true]);
    expect(outcome["skip then"]).to.deep.equal(["12:10"]);
    expect((outcome.queue as unknown[])[0]).to.deep.equal(["12:10"]);
    expect(outcome["queue then"]).to.deep.equal(["12:10", "12:20"]);
    expect((outcome.cancel as unknown[]).slice(0, 2)).to.deep.equal([["12:10", "12:20"], "done"]);
  });

  it("knows of a run that is under way, however many later ones have ended: replicas whose clocks differ start them in any order", async () => {
    const each = await schedule({ agent: "asking", overlap: "skip", catchUp: "1m" });
    const { states, fresh } = replicas(each);
    const { run } = await service.host.runs.start({ agent: "asking", input: { text: "What time is it?" } });
    const ended = Array.from({ length: 12 }, (_, at) => ({ time: noon + (at + 2) * 10 * minute, run: `run_${at}` }));
    const starts = [{ time: noon + 10 * minute, run }, ...ended];
    const through = noon + 135 * minute;
    await states.addStarts(each.definition, { since: noon, through, starts });
    await fresh().look(noon + 140 * minute);
    const [last] = (await states.read(each.definition))?.starts ?? [];
    await service.host.runs.cancel(run);
    expect(last).to.deep.equal({ time: noon + 140 * minute, skipped: `${run} is still under way` });
  });

  it("that names an agent nobody has says so, and goes on with the next time", async () => {
    const each = await schedule({ agent: "nobody" });
    const { watches, states } = replicas(each);
    await watches[0]?.look(noon);
    await watches[0]?.look(noon + 21 * minute);
    const state = await states.read(each.definition);
    expect(state?.starts.map(({ error }) => error?.slice(0, 9))).to.deep.equal(["not_found", "not_found"]);
  });
});
