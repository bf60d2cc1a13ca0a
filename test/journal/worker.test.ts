import { expect } from "chai";
import { MemoryJournal } from "../../plugins/memory/journal.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Signal } from "../../src/core/journal/journal.ts";
import type { EventBody } from "../../src/core/run/events.ts";
import type { Work } from "../../src/journal/work.ts";
import { Worker } from "../../src/journal/worker.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { collect, delta, finished, firstOf, freshRun, memory, pair, seqs, started, upTo } from "./setup.ts";

const request = { agent: "a", input: { text: "hi" } };

describe("Worker", () => {
  it("claims what is ready, runs it, and takes the next of a session when the first has ended", async () => {
    const journal = memory();
    const { committer, followers } = pair(journal);
    const order: string[] = [];
    const worker = new Worker({
      journal,
      committer,
      execute: async ({ claim, log }) => {
        order.push(claim.ownership.run);
        await log.step(started());
        await log.step(finished());
      },
    });
    await worker.start();
    const runs = [freshRun(), freshRun(), freshRun()];
    for (const run of runs) await journal.enqueue({ run, tenant: "default", session: "s", request });
    for (const run of runs) expect(seqs(await collect(followers.follow(run)))).to.deep.equal([1, 2]);
    expect(order).to.deep.equal(runs);
    await worker.stop();
  });

  it("gives a run with events of a newer version back, unchanged, and a newer worker goes on with it", async () => {
    const journal = memory();
    const { committer } = pair(journal);
    const run = freshRun();
    const { claim } = await journal.enqueue({ run, tenant: "default", session: undefined, request, claimFor: "newer" });
    if (!claim) throw new Error("not claimed");
    const log = committer.openLog(claim.ownership);
    log.write(started());
    log.write({ type: "thought.folded", text: "of a later version" } as unknown as EventBody);
    await log.flush();
    await journal.release(claim.ownership);
    const executed: string[] = [];
    const told: string[] = [];
    const note = (message: string, fields?: Readonly<Record<string, unknown>>) => {
      told.push(`${message} ${fields?.error}`);
    };
    const worker = new Worker({
      journal,
      committer,
      poll: 10,
      log: { debug: note, info: note, warn: note, error: note },
      execute: async (work) => void executed.push(work.claim.ownership.run),
    });
    await worker.start();
    while (told.filter((line) => line.includes("thought.folded")).length < 2) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await worker.stop();
    expect(executed).to.deep.equal([]);
    expect(await journal.get(run)).to.include({ state: "ready", head: 2 });
    expect(told.find((line) => line.includes("thought.folded"))).to.contain("a newer one has to go on with the run");
  });

  it("takes the run of a worker that died up from its history, under a new epoch", async () => {
    const clock = new VirtualClock();
    const journal = new MemoryJournal({ clock, keep: 10, lease: 9_000 });
    const { committer, followers } = pair(journal);
    const run = freshRun();
    await journal.heartbeat("dead");
    const { claim } = await journal.enqueue({ run, tenant: "default", session: undefined, request, claimFor: "dead" });
    if (!claim) throw new Error("not claimed");
    const log = committer.openLog(claim.ownership);
    log.write(started());
    for (let n = 0; n < 2_500; n++) log.write(delta("x"));
    await log.flush();
    const works: Work[] = [];
    const worker = new Worker({
      journal,
      committer,
      clock,
      execute: async (work) => {
        works.push(work);
        await work.log.step(finished());
      },
    });
    await worker.start();
    await clock.advance(9_000);
    expect(works).to.have.length(0);
    await clock.advance(1_001);
    await collect(followers.follow(run));
    expect(works.map((work) => work.claim.ownership.epoch)).to.deep.equal([2]);
    expect(seqs(works[0]?.history ?? [])).to.deep.equal(upTo(2_501));
    await worker.stop();
  });

  it("gives back what a worker that died had set aside, although the run ends before it is executed", async () => {
    const clock = new VirtualClock();
    const journal = new MemoryJournal({ clock, keep: 10, lease: 9_000 });
    const { committer, followers } = pair(journal);
    const run = freshRun();
    await journal.heartbeat("dead");
    const { claim } = await journal.enqueue({ run, tenant: "default", session: undefined, request, claimFor: "dead" });
    if (!claim) throw new Error("not claimed");
    const holds = [{ account: "all", nanos: 0, tokens: 100, maxTokens: 150, until: 1e15 }];
    expect(await journal.reserve({ ownership: claim.ownership, holds })).to.include({ kind: "held" });
    const worker = new Worker({
      journal,
      committer,
      clock,
      execute: () => Promise.reject(new VenturiError("test", "invalid_input", "it cannot be executed")),
    });
    clock.advance(30_000);
    await worker.start();
    expect((await collect(followers.follow(run))).at(-1)?.type).to.equal("run.failed");
    expect((await journal.balances(["all"]))[0]?.held.tokens).to.equal(0);
    await worker.stop();
  });

  it("a heartbeat for all keeps leases, however long a run takes", async () => {
    const clock = new VirtualClock();
    const journal = new MemoryJournal({ clock, keep: 10, lease: 9_000 });
    const { committer } = pair(journal);
    const end = Promise.withResolvers<void>();
    const first = new Worker({ journal, committer, clock, execute: () => end.promise });
    const second = new Worker({ journal, committer, clock, execute: async () => {} });
    await first.start();
    await journal.enqueue({ run: freshRun(), tenant: "default", session: undefined, request });
    await clock.advance(0);
    await second.start();
    await clock.advance(60_000);
    expect([first.active, second.active]).to.deep.equal([1, 0]);
    end.resolve();
    await first.stop();
    await second.stop();
  });

  it("brings signals in order, those that were there before the claim before anything else", async () => {
    const journal = memory();
    const { committer, followers } = pair(journal);
    const run = freshRun();
    await journal.enqueue({ run, tenant: "default", session: undefined, request });
    await journal.signal(run, { id: "one", kind: "message", body: { text: "1" } });
    const seen: Signal[] = [];
    let atStart = 0;
    const worker = new Worker({
      journal,
      committer,
      execute: async ({ log, signals }) => {
        const cancelled = new Promise<void>((resolve) => {
          signals.subscribe(0, (signal) => {
            seen.push(signal);
            if (signal.kind === "cancel") resolve();
          });
        });
        atStart = seen.length;
        await log.step(started());
        await cancelled;
        await log.step(finished());
      },
    });
    await worker.start();
    await firstOf(followers.follow(run));
    await journal.signal(run, { id: "two", kind: "message", body: { text: "2" } });
    await journal.signal(run, { id: "two", kind: "message", body: { text: "again" } });
    await journal.signal(run, { id: "three", kind: "cancel", body: {} });
    await collect(followers.follow(run));
    expect(atStart).to.equal(1);
    expect(seen.map((signal) => signal.id)).to.deep.equal(["one", "two", "three"]);
    await worker.stop();
  });

  it("a signal reaches the run within half a second when its hint is lost", async () => {
    const clock = new VirtualClock();
    const journal = new MemoryJournal({ clock, keep: 10, lease: 9_000 });
    journal.onHint = () => () => {};
    const { committer } = pair(journal);
    const cancelled = Promise.withResolvers<void>();
    const worker = new Worker({
      journal,
      committer,
      clock,
      execute: async ({ log, signals }) => {
        signals.subscribe(0, () => cancelled.resolve());
        await cancelled.promise;
        await log.step(finished());
      },
    });
    const run = freshRun();
    await journal.enqueue({ run, tenant: "default", session: undefined, request });
    await worker.start();
    await clock.advance(0);
    await journal.signal(run, { id: "c", kind: "cancel", body: {} });
    await clock.advance(500);
    await cancelled.promise;
    await worker.stop();
  });

  it("gives its runs back when it stops, with what they wrote, and another goes on at once", async () => {
    const journal = memory();
    const here = pair(journal);
    const there = pair(journal);
    const first = new Worker({
      journal,
      committer: here.committer,
      execute: async ({ log, signal }) => {
        await log.step(started());
        log.write(delta("half"));
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
    });
    const histories: number[][] = [];
    const second = new Worker({
      journal,
      committer: there.committer,
      execute: async ({ log, history }) => {
        histories.push(seqs(history));
        await log.step(finished());
      },
    });
    await first.start();
    const run = freshRun();
    await journal.enqueue({ run, tenant: "default", session: undefined, request });
    await firstOf(here.followers.follow(run));
    await second.start();
    await first.stop();
    expect(seqs(await collect(there.followers.follow(run)))).to.deep.equal([1, 2, 3]);
    expect(histories).to.deep.equal([[1, 2]]);
    await second.stop();
  });

  it("works on no more runs at once than it may", async () => {
    const journal = memory();
    const { committer, followers } = pair(journal);
    let active = 0;
    let most = 0;
    const worker = new Worker({
      journal,
      committer,
      concurrency: 2,
      execute: async ({ log }) => {
        most = Math.max(most, ++active);
        await new Promise((resolve) => setImmediate(resolve));
        active -= 1;
        await log.step(finished());
      },
    });
    const runs = Array.from({ length: 7 }, freshRun);
    for (const run of runs) await journal.enqueue({ run, tenant: "default", session: undefined, request });
    await worker.start();
    await Promise.all(runs.map((run) => collect(followers.follow(run))));
    expect(most).to.equal(2);
    await worker.stop();
  });

  it("finds a claim whose answer was lost, and gives it back", async () => {
    const clock = new VirtualClock();
    const journal = new MemoryJournal({ clock, keep: 10, lease: 9_000 });
    const claim = journal.claim.bind(journal);
    let lose = true;
    journal.claim = async (worker, limit) => {
      const claims = await claim(worker, limit);
      if (claims.length > 0 && lose) {
        lose = false;
        throw new Error("the connection was lost");
      }
      return claims;
    };
    const { committer } = pair(journal);
    const ended = Promise.withResolvers<number>();
    const worker = new Worker({
      journal,
      committer,
      clock,
      execute: async ({ log, claim }) => {
        await log.step(finished());
        ended.resolve(claim.ownership.epoch);
      },
    });
    await journal.enqueue({ run: freshRun(), tenant: "default", session: undefined, request });
    await worker.start();
    await clock.advance(30_000);
    expect(await ended.promise).to.equal(2);
    await worker.stop();
  });

  it("stops only after the runs of a pending claim are released", async () => {
    const journal = memory();
    const claim = journal.claim.bind(journal);
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    journal.claim = async (worker, limit) => {
      const claims = await claim(worker, limit);
      asked.resolve();
      await answer.promise;
      return claims;
    };
    const { committer } = pair(journal);
    const worker = new Worker({ journal, committer, execute: async () => {} });
    const run = freshRun();
    await journal.enqueue({ run, tenant: "default", session: undefined, request });
    await worker.start();
    await asked.promise;
    setTimeout(() => answer.resolve(), 20);
    await worker.stop();
    expect(await journal.get(run)).to.include({ state: "ready" });
  });

  it("an execution that throws gives its run back for another try", async () => {
    const clock = new VirtualClock();
    const journal = new MemoryJournal({ clock, keep: 10, lease: 9_000 });
    const { committer, followers } = pair(journal);
    let tries = 0;
    const worker = new Worker({
      journal,
      committer,
      clock,
      execute: async ({ log }) => {
        if (tries++ === 0) throw new Error("a bug");
        await log.step(finished());
      },
    });
    const run = freshRun();
    await journal.enqueue({ run, tenant: "default", session: undefined, request });
    await worker.start();
    await clock.advance(2_000);
    expect(seqs(await collect(followers.follow(run)))).to.deep.equal([1]);
    expect(tries).to.equal(2);
    await worker.stop();
  });
});
