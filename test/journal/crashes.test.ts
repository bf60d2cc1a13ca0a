import { expect } from "chai";
import type { EventBody } from "../../src/core/events.ts";
import { attemptsOf } from "../../src/journal/crashes.ts";
import { Worker } from "../../src/journal/worker.ts";
import { delta, finished, freshRun, memory, pair, started } from "./setup.ts";

const request = { agent: "a", input: { text: "hi" } };
const resumed = (epoch: number): EventBody => ({ type: "run.resumed", epoch });
const asked: EventBody = { type: "approval.requested", round: 1, call: "c", name: "pay", arguments: {} };
const answered: EventBody = { type: "approval.resolved", round: 1, call: "c", approved: true };
const done: EventBody = { type: "tool.finished", round: 1, call: "c", name: "pay", ok: true, ms: 1, output: "" };

/** A run with these events that nobody owns, offered to a worker; what it logged once the run has ended or been executed. */
async function continued(events: readonly EventBody[]): Promise<{ told: string[]; executed: boolean }> {
  const journal = memory();
  const { committer } = pair(journal);
  const run = freshRun();
  const { claim } = await journal.enqueue({ run, tenant: "default", session: undefined, request, claimFor: "gone" });
  if (!claim) throw new Error("not claimed");
  const log = committer.openLog(claim.ownership);
  for (const event of events) log.write({ ...event });
  await log.flush();
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
  return { told, executed };
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
});
