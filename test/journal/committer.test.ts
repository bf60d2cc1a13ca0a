import { expect } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import { Committer } from "../../src/journal/committer.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { claimed, delta, finished, gated, pair, seqs, started, upTo } from "./setup.ts";

describe("Committer", () => {
  it("commits everything written in one turn together, in order, with seq from 1", async () => {
    const journal = gated();
    const { committer } = pair(journal);
    const { ownership } = await claimed(journal);
    const log = committer.openLog(ownership);
    log.write(started());
    log.write(delta("a"));
    log.write(delta("b"));
    await log.flush();
    expect(journal.batches).to.have.length(1);
    expect(seqs(await journal.read(ownership.run, 0, 10))).to.deep.equal(upTo(3));
  });

  it("commits a run that nobody watches and that does nothing outside of itself once, at its end or when it is parked", async () => {
    const journal = gated();
    const { committer } = pair(journal);
    const { ownership } = await claimed(journal);
    const log = committer.openLog(ownership, "", committer.patient);
    await log.step(started());
    log.write(delta("a"));
    await log.flush();
    expect(journal.batches).to.deep.equal([]);
    await log.step(finished());
    expect(journal.batches.map((batch) => batch[0]?.events.length)).to.deep.equal([3]);
    const other = committer.openLog((await claimed(journal)).ownership, "", committer.patient);
    await other.step(started());
    await other.park(0);
    expect(journal.batches.map((batch) => batch[0]?.events.length)).to.deep.equal([3, 1]);
  });

  it("has one transaction in flight for all runs; what arrives meanwhile goes into the next", async () => {
    const journal = gated();
    const { committer } = pair(journal);
    const logs = await Promise.all([1, 2, 3].map(async () => committer.openLog((await claimed(journal)).ownership)));
    const open = journal.shut();
    const first = logs[0]?.step(started());
    await new Promise((resolve) => setImmediate(resolve));
    const others = [logs[1]?.step(started()), logs[2]?.step(started()), logs[0]?.step(delta("x"))];
    await new Promise((resolve) => setImmediate(resolve));
    expect(journal.batches).to.have.length(1);
    open();
    await Promise.all([first, ...others]);
    expect(journal.batches.map((batch) => batch.length)).to.deep.equal([1, 3]);
  });

  it("commits what several microtasks of one turn wrote together, when the engine is elsewhere", async () => {
    const journal = gated();
    const { committer } = pair(journal);
    const log = committer.openLog((await claimed(journal)).ownership);
    await log.step(started());
    log.write(delta("a"));
    for (let microtask = 0; microtask < 20; microtask++) await undefined;
    log.write(delta("b"));
    await log.flush();
    expect(journal.batches.map((batch) => batch[0]?.events.length)).to.deep.equal([1, 2]);
  });

  it("asks an idle engine at once", async () => {
    const journal = gated();
    const clock = new VirtualClock();
    const committer = new Committer({ journal, clock });
    const log = committer.openLog((await claimed(journal)).ownership);
    log.write(started());
    await Promise.resolve();
    expect(journal.batches).to.have.length(1);
  });

  it("starts commits as many durations apart as the last one held runs, at most 8 and at most 8 ms", async () => {
    for (const [runs, took, apart] of [
      [8, 0.125, 0.125],
      [8, 0.5, 4],
      [20, 0.5, 4],
      [3, 1, 3],
      [8, 1, 8],
      [8, 3, 8],
      [8, 20, 20],
    ] as const) {
      const { journal, clock, log, open } = await slow(runs);
      await clock.advance(took);
      open();
      await clock.advance(0);
      log.write(delta("a"));
      await clock.advance(apart - took - 0.5);
      log.write(delta("b"));
      expect(journal.batches, `a commit of ${runs} runs in ${took} ms`).to.have.length(apart > took ? 1 : 2);
      await clock.advance(0.5);
      const together = apart > took ? [1, 2] : [1, 1, 1];
      expect(journal.batches.map((batch) => batch[0]?.events.length)).to.deep.equal(together);
    }
  });

  it("a single run never waits for others: each write is committed as soon as the last commit has ended", async () => {
    for (const took of [0.5, 3, 20]) {
      const { journal, clock, log, open } = await slow();
      await clock.advance(took);
      open();
      await clock.advance(0);
      for (const batches of [2, 3, 4]) {
        log.write(delta("a"));
        await clock.advance(0);
        expect(journal.batches, `a commit of ${took} ms`).to.have.length(batches);
      }
    }
  });

  it("runs that write by turns share commits, as many as write within 8 ms", async () => {
    for (const [runs, every, apart] of [
      [50, 1, 8],
      [8, 1, 8],
      [4, 1, 4],
      [50, 4, 2],
    ] as const) {
      const { journal, clock, logs, commits } = await timed(runs, 1);
      for (let ms = 0; ms < 400; ms += every) {
        logs[(ms / every) % runs]?.write(delta("a"));
        await clock.advance(every);
      }
      const gaps = commits.slice(-20).map((at, index, all) => at - (all[index - 1] ?? Number.NaN));
      const mean = gaps.slice(1).reduce((sum, gap) => sum + gap, 0) / (gaps.length - 1);
      expect(mean, `${runs} runs, a write every ${every} ms`).to.be.within(
        Math.max(apart, every),
        Math.max(apart, every) + 1,
      );
      const held = journal.batches.flat().reduce((sum, { events }) => sum + events.length, 0);
      expect(held).to.be.at.least(400 / every - 8);
    }
  });

  it("a run alone is not held up however fast it writes, also after others have ended", async () => {
    const { clock, logs, commits } = await timed(3, 1);
    for (const log of logs.slice(1)) log.abandon();
    for (let ms = 0; ms < 100; ms++) {
      logs[0]?.write(delta("a"));
      await clock.advance(1);
    }
    expect(commits.length).to.be.at.least(99);
  });

  it("does not delay a step, or 4 KB of one run, to group commits", async () => {
    for (const nudge of ["step", "bytes"]) {
      const { journal, clock, log, open } = await slow(8);
      await clock.advance(1);
      open();
      await clock.advance(1);
      log.write(delta("a"));
      expect(journal.batches).to.have.length(1);
      if (nudge === "step") await log.flush();
      else log.write(delta("x".repeat(5_000)));
      await clock.advance(0);
      expect(journal.batches).to.have.length(2);
    }
  });

  it("does not delay 256 waiting runs", async () => {
    const { journal, clock, logs } = await timed(300, 1);
    for (const log of logs) log.write(started());
    await clock.advance(2);
    for (const log of logs.slice(0, 255)) log.write(delta("a"));
    await clock.advance(1);
    expect(journal.batches.map((batch) => batch.length)).to.deep.equal([300]);
    logs[255]?.write(delta("a"));
    await clock.advance(1);
    expect(journal.batches.map((batch) => batch.length)).to.deep.equal([300, 256]);
  });

  it("a fenced ownership's log aborts, its flush rejects with conflict and nothing of it goes in", async () => {
    const journal = gated();
    const { committer } = pair(journal);
    const { ownership } = await claimed(journal);
    const log = committer.openLog(ownership);
    await log.step(started());
    await journal.release(ownership);
    await journal.claim("w2", 1);
    log.write(delta("late"));
    const error = await log.flush().catch((thrown) => thrown);
    expect(error).to.include({ op: "journal.append", code: "conflict" });
    expect(log.signal.aborted).to.equal(true);
    log.write(delta("later still"));
    expect(seqs(await journal.read(ownership.run, 0, 10))).to.deep.equal([1]);
  });

  it("tries a failing engine again while the run waits, and nothing is lost or doubled when the answer was", async () => {
    for (const loseAnswer of [false, true]) {
      const journal = gated();
      journal.failures = 2;
      journal.loseAnswer = loseAnswer;
      const { committer } = pair(journal);
      const { ownership } = await claimed(journal);
      const log = committer.openLog(ownership);
      await log.step(started());
      await log.step(finished());
      expect(seqs(await journal.read(ownership.run, 0, 10))).to.deep.equal([1, 2]);
      expect((await journal.get(ownership.run))?.state).to.equal("done");
    }
  });

  it("gives up after its patience with journal_failed and goes on with other runs", async () => {
    const journal = gated();
    const { committer } = pair(journal, { patience: 100 });
    const first = committer.openLog((await claimed(journal)).ownership);
    journal.failures = Number.POSITIVE_INFINITY;
    const error = await first.step(started()).catch((thrown) => thrown);
    expect(error).to.include({ code: "journal_failed" });
    expect(first.signal.aborted).to.equal(true);
    journal.failures = 0;
    const second = committer.openLog((await claimed(journal)).ownership);
    await second.step(started());
  });

  it("makes a writer wait while more is uncommitted than a run may hold", async () => {
    const journal = gated();
    const { committer } = pair(journal, { maxUncommitted: 10_000 });
    const log = committer.openLog((await claimed(journal)).ownership);
    const open = journal.shut();
    log.write(delta("x".repeat(9_000)));
    expect(log.pressure).to.equal(undefined);
    log.write(delta("x".repeat(9_000)));
    const { pressure } = log;
    expect(pressure).to.be.a("promise");
    open();
    await pressure;
    expect(log.pressure).to.equal(undefined);
  });

  it("parks with what was written before it, and the park's promise is not settled by an earlier commit", async () => {
    const journal = gated();
    const { committer } = pair(journal);
    const { ownership } = await claimed(journal);
    const log = committer.openLog(ownership);
    const open = journal.shut();
    log.write(started());
    await new Promise((resolve) => setImmediate(resolve));
    const parked = log.park(0);
    open();
    await parked;
    expect(await journal.get(ownership.run)).to.include({ state: "waiting", head: 1 });
  });

  it("an event that the engine refuses fails only its own run", async () => {
    const journal = gated();
    const { committer } = pair(journal);
    const append = journal.append.bind(journal);
    journal.append = async (batch) => {
      if (batch.some((item) => item.events.some((event) => event.type === "text.delta")))
        throw new VenturiError("journal.append", "internal", "cannot be encoded");
      return append(batch);
    };
    const bad = committer.openLog((await claimed(journal)).ownership);
    const good = committer.openLog((await claimed(journal)).ownership);
    const results = await Promise.allSettled([bad.step(delta("x")), good.step(started())]);
    expect(results.map((result) => result.status)).to.deep.equal(["rejected", "fulfilled"]);
  });
});

/** A commit of that many runs that lasts until it is opened, on a clock that stands. */
async function slow(runs = 1) {
  const journal = gated();
  const clock = new VirtualClock();
  const committer = new Committer({ journal, clock });
  const log = committer.openLog((await claimed(journal)).ownership);
  const others = [];
  for (let other = 1; other < runs; other++) others.push(committer.openLog((await claimed(journal)).ownership));
  const open = journal.shut();
  for (const each of [log, ...others]) each.write(started());
  await clock.advance(0);
  return { journal, clock, log, open };
}

/** Open logs on a journal whose commits take `took` ms, and when they started. */
async function timed(runs: number, took: number) {
  const clock = new VirtualClock();
  const commits: number[] = [];
  const journal = gated();
  const append = journal.append.bind(journal);
  journal.append = async (batch) => {
    commits.push(clock.monotonic());
    await new Promise<void>((resolve) => clock.after(took, resolve));
    return await append(batch);
  };
  const committer = new Committer({ journal, clock });
  const logs = [];
  for (let run = 0; run < runs; run++) logs.push(committer.openLog((await claimed(journal)).ownership));
  return { journal, clock, logs, commits };
}
