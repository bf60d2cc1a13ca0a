import { expect } from "chai";
import type { EventBody } from "../../src/core/run/events.ts";
import type { Crash } from "../../src/core/run/signals.ts";
import { attemptsOf, refuseCrashing, SuspectStarts } from "../../src/journal/crashes.ts";
import { freeRunsOf } from "../../src/journal/take-over.ts";
import { Worker } from "../../src/journal/worker.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { delta, finished, freshRun, memory, pair, started } from "./setup.ts";

const request = { agent: "a", input: { text: "hi" } };
const resumed = (epoch: number): EventBody => ({ type: "run.resumed", epoch });
const asked: EventBody = { type: "approval.requested", round: 1, call: "c", name: "pay", arguments: {} };
const answered: EventBody = { type: "approval.resolved", round: 1, call: "c", approved: true };
const done: EventBody = { type: "tool.finished", round: 1, call: "c", name: "pay", ok: true, ms: 1, output: "" };

/** A run with these events that nobody owns, offered to a worker; what it logged once the run has ended or been executed. */
async function continued(
  events: readonly EventBody[],
  crashes: readonly Crash[] = [],
): Promise<{ told: string[]; executed: boolean; error?: string }> {
  const journal = memory();
  const { committer } = pair(journal);
  const run = freshRun();
  const { claim } = await journal.enqueue({ run, tenant: "default", session: undefined, request, claimFor: "gone" });
  if (!claim) throw new Error("not claimed");
  const log = committer.openLog(claim.ownership);
  for (const event of events) log.write({ ...event });
  await log.flush();
  for (const [index, crash] of crashes.entries())
    await journal.signal(run, { id: String(index), kind: "crashed", body: { ...crash } });
  await journal.release(claim.ownership);
  const told: string[] = [];
  const note = (message: string, fields?: Readonly<Record<string, unknown>>) => {
    told.push(`${message}${fields?.code === undefined ? "" : ` ${fields.code}`}`);
  };
  let executed = false;
  const worker = new Worker({
    journal,
    committer,
    poll: 10,
    log: { debug: note, info: note, warn: note, error: note },
    execute: async (work) => {
      executed = true;
      await work.log.step(finished());
    },
  });
  await worker.start();
  while ((await journal.get(run))?.state !== "done") await new Promise((resolve) => setTimeout(resolve, 5));
  await worker.stop();
  const last = (await journal.read(run, 0, 100)).at(-1);
  return { told, executed, ...(last?.type === "run.failed" ? { error: last.error.err } : {}) };
}

describe("runs whose workers crash", () => {
  const four = [2, 3, 4, 5].map(resumed);
  for (const [what, events, lost] of [
    ["attempts without a step are counted", [started(), ...four, delta("x"), resumed(6)], 5],
    ["a step that is done starts the count again", [started(), ...four, done, resumed(6)], 1],
    ["a run that waited for an answer was not lost", [started(), asked, ...four, answered], 0],
  ] as const) {
    it(what, () => {
      const history = events.map((event, index) => ({ ...event, run: "r", seq: index + 1, at: 0 }));
      expect(attemptsOf(history as Parameters<typeof attemptsOf>[0]).lost).to.equal(lost);
    });
  }

  it("a run lost five times ends with worker_crashed, one lost four times is tried again", async () => {
    expect(await continued([started(), ...four])).to.deep.include({ executed: true });
    const { told, executed } = await continued([started(), ...four, resumed(6)]);
    expect(executed).to.equal(false);
    expect(told).to.include("run cannot be executed; ended as failed worker_crashed");
  });

  it("is logged as taken over, and not when it merely waited for an answer", async () => {
    expect((await continued([started()])).told).to.include("run taken over");
    expect((await continued([started(), asked])).told).not.to.include("run taken over");
  });

  const blamed: Crash = {
    epoch: 1,
    blamed: true,
    cause: "blocked its process for 10000 ms",
    stack: "at f (/x/y.mjs:7:1)",
  };

  it("one that is known to have taken two processes down ends with what is known; one is not enough", async () => {
    expect(await continued([started()], [blamed])).to.deep.include({ executed: true });
    const { executed, error } = await continued([started(), resumed(2), done], [blamed, { ...blamed, epoch: 2 }]);
    expect(executed).to.equal(false);
    expect(error).to.match(
      /blocked its process for 10000 ms, at y\.mjs:7; it was the second process that it took down/,
    );
  });

  it("the place where it did so is found in frames with and without parentheses, and named without its folders", () => {
    const where = (stack: string) => {
      try {
        refuseCrashing("r", { lost: 0, parked: false, blamed: [blamed, { ...blamed, stack }] });
        return "";
      } catch (thrown) {
        return /, at ([^;]*);/.exec(String(thrown))?.[1];
      }
    };
    expect(where("Error\n    at spin (file:///app/x/y.mjs:7:3)")).to.equal("y.mjs:7");
    expect(where("Error\n    at file:///app/x/z.mjs:9:1\n    at y.mjs:1:1")).to.equal("z.mjs:9");
  });

  it("other runs of its process are not suspected, however often that happens", () => {
    const events = [started(), ...four, resumed(6)].map((event, index) => ({
      ...event,
      run: "r",
      seq: index + 1,
      at: 0,
    }));
    const signals = [1, 2, 3, 4].map((epoch, index) => ({
      id: String(epoch),
      number: index + 1,
      kind: "crashed" as const,
      body: { epoch, blamed: false },
    }));
    expect(attemptsOf(events as Parameters<typeof attemptsOf>[0], signals).lost).to.equal(1);
  });

  it("of a dead worker's runs the one it worked for is named, and the others are excused", async () => {
    const journal = memory();
    const runs = [freshRun(), freshRun(), freshRun()];
    for (const run of runs) await journal.enqueue({ run, tenant: "t", session: undefined, request, claimFor: "dead" });
    const [culprit = "", ...others] = runs;
    expect(await freeRunsOf("dead", journal, { run: culprit, cause: "ended its process", stack: "at f" })).to.equal(3);
    expect((await journal.signals(culprit, 0)).map(({ body }) => body)).to.deep.equal([
      { epoch: 1, blamed: true, cause: "ended its process", stack: "at f" },
    ]);
    for (const run of others)
      expect((await journal.signals(run, 0)).map(({ body }) => body)).to.deep.equal([{ epoch: 1, blamed: false }]);
  });

  it("nobody is named when the worker had no such run", async () => {
    const journal = memory();
    const run = freshRun();
    await journal.enqueue({ run, tenant: "t", session: undefined, request, claimFor: "dead" });
    await freeRunsOf("dead", journal, { run: "other", cause: "ended its process" });
    expect(await journal.signals(run, 0)).to.deep.equal([]);
  });

  it("suspects start in groups that double, and those on their last attempt alone after them", async () => {
    const clock = new VirtualClock();
    const starts = new SuspectStarts(clock);
    const at: number[] = [];
    const alone: number[] = [];
    const over = new AbortController().signal;
    const begin = clock.monotonic();
    const wait = (lost: number, list: number[]) =>
      starts.take({ lost, blamed: [], parked: false }, over)?.then(() => list.push(clock.monotonic() - begin));
    expect(starts.take({ lost: 1, blamed: [], parked: false }, over)).to.equal(undefined);
    for (let count = 0; count < 20; count++) wait(2, at);
    for (let count = 0; count < 2; count++) wait(4, alone);
    for (let step = 0; step < 300; step++) {
      await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(50);
    }
    expect(at.length).to.equal(20);
    const seconds = at.map((ms) => Math.round(ms / 1_000));
    expect(seconds.filter((second) => second <= 3).length).to.be.within(7, 15);
    expect(Math.max(...at)).to.be.below(6_000);
    expect(alone.length).to.equal(2);
    expect(alone[0]).to.be.at.least(Math.max(...at));
    expect((alone[1] ?? 0) - (alone[0] ?? 0)).to.be.at.least(4_000);
  });
});
