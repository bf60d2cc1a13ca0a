import { expect } from "chai";
import { MemoryJournal } from "../../plugins/memory/journal.ts";
import { type Clock, systemClock } from "../../src/core/ports/clock.ts";
import { Committer } from "../../src/journal/committer.ts";
import { RunClocks } from "../../src/journal/run-clocks.ts";
import type { Work } from "../../src/journal/work.ts";
import { Worker } from "../../src/journal/worker.ts";
import { enqueueing, text } from "../../src/testing/journal-bench.ts";

describe("the clock of a run", () => {
  it("goes on from its last event, and is not held back by it", () => {
    let monotonic = 0;
    const clocks = new RunClocks({ ...systemClock, now: () => 1_000 + monotonic, monotonic: () => monotonic });
    expect(clocks.follow("behind", 5_000)).to.equal(5_000);
    expect(clocks.follow("ahead", 500)).to.equal(1_000);
    monotonic = 10;
    expect([clocks.now("behind"), clocks.now("ahead")]).to.deep.equal([5_010, 1_010]);
    expect(clocks.follow("later", 2_000)).to.equal(1_990);
    expect([clocks.now("later"), clocks.now("unknown")]).to.deep.equal([2_000, 1_010]);
  });

  it("does not go back when a process takes it over whose clock is an hour behind", async () => {
    const journal = new MemoryJournal({ clock: systemClock, keep: 10, lease: 10_000 });
    const times: number[] = [];
    const ended = Promise.withResolvers<void>();
    const workerOf = (name: string, skew: number, execute: (work: Work) => Promise<void>) => {
      const clock: Clock = { ...systemClock, now: () => Date.now() + skew };
      const committer = new Committer({ journal, clock });
      return new Worker({ name, journal, committer, clock, concurrency: 1, execute, poll: 20 });
    };
    const write = async ({ log }: Work) => {
      times.push(log.write(text("a")).at);
      await log.flush();
    };
    const first = workerOf("w1", 0, async (work) => {
      await write(work);
      ended.resolve();
      throw new Error("gives up");
    });
    await journal.enqueue(enqueueing());
    await first.start();
    await ended.promise;
    await first.stop();
    const again = Promise.withResolvers<void>();
    const second = workerOf("w2", -3_600_000, async (work) => {
      await write(work);
      again.resolve();
    });
    await second.start();
    await again.promise;
    await second.stop();
    expect(times).to.have.length(2);
    expect((times[1] ?? 0) - (times[0] ?? 0)).to.be.within(0, 60_000);
  });
});
