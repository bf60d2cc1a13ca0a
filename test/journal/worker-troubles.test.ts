import { expect } from "chai";
import { MemoryJournal } from "../../plugins/memory/journal.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Claim, Hint, Ownership } from "../../src/core/journal/journal.ts";
import type { EventBody, RunEvent } from "../../src/core/run/events.ts";
import { Committer } from "../../src/journal/committer.ts";
import { StrayLeases } from "../../src/journal/stray-leases.ts";
import { freeRunsOf } from "../../src/journal/take-over.ts";
import type { WorkerOptions } from "../../src/journal/work.ts";
import { newWorkerName, Worker } from "../../src/journal/worker.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { recorder } from "./log-recorder.ts";
import { claimed, finished, freshRun, memory, started } from "./setup.ts";

const request = { agent: "a", input: { text: "hi" } };
const down = () => new VenturiError("journal.claim", "journal_failed", "down");

/** A worker on a clock that stands, with what it logs. */
async function bench(options: Partial<WorkerOptions> & { lease?: number } = {}) {
  const clock = new VirtualClock();
  const journal = new MemoryJournal({ clock, keep: 1_000, lease: options.lease ?? 9_000 });
  const { log, lines, line } = recorder();
  const committer = new Committer({ journal, clock });
  const worker = new Worker({
    journal,
    committer,
    clock,
    log,
    name: "w1",
    execute: async ({ log, history }) => {
      if (history.length === 0) await log.step(started());
      await log.step(finished());
    },
    ...options,
  });
  const enqueue = async (run = freshRun()) => {
    await journal.enqueue({ run, tenant: "default", session: undefined, request });
    return run;
  };
  const stateOf = async (run: string) => (await journal.get(run))?.state;
  return { clock, journal, committer, worker, lines, line, enqueue, stateOf };
}

/** A promise that ends when the run is taken away. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

describe("a worker's slots", () => {
  it("are its limit minus the active runs, and none while it rests or stops", async () => {
    const end = Promise.withResolvers<void>();
    const { worker, clock, enqueue } = await bench({
      concurrency: 2,
      execute: async ({ log }) => {
        await end.promise;
        await log.step(finished());
      },
    });
    expect([worker.room, worker.active]).to.deep.equal([2, 0]);
    for (let run = 0; run < 3; run++) await enqueue();
    await worker.start();
    await clock.advance(0);
    expect([worker.room, worker.active]).to.deep.equal([0, 2]);
    end.resolve();
    await clock.advance(0);
    expect([worker.room, worker.active]).to.deep.equal([2, 0]);
    worker.rest();
    expect(worker.room).to.equal(0);
    await worker.stop();
    const stopped = (await bench()).worker;
    expect(stopped.room).to.equal(2_000);
    await stopped.stop();
    expect(stopped.room).to.equal(0);
  });

  it("are reported to a watch, begin and end, however the run came", async () => {
    const seen: string[] = [];
    const watch = {
      begin: ({ ownership: { run } }: Claim) => seen.push(`begin ${run}`),
      end: (run: string) => seen.push(`end ${run}`),
    };
    const { worker, clock, journal, enqueue } = await bench({ watch });
    await worker.start();
    const first = await enqueue();
    await clock.advance(0);
    const { claim } = await journal.enqueue({
      ...{ run: "own", tenant: "t", session: undefined, request },
      claimFor: "w1",
    });
    worker.offer(claim ?? expect.fail());
    await clock.advance(0);
    expect(seen).to.deep.equal([`begin ${first}`, `end ${first}`, "begin own", "end own"]);
    await worker.stop();
  });

  it("left free by a rest stay free: what is ready is left to others", async () => {
    const { worker, clock, enqueue, stateOf } = await bench();
    await worker.start();
    worker.rest();
    const run = await enqueue();
    await clock.advance(5_000);
    expect(await stateOf(run)).to.equal("ready");
    await worker.stop();
  });

  it("are not given to more runs than there are, however many claims are on their way", async () => {
    const end = Promise.withResolvers<void>();
    let most = 0;
    const made = await bench({
      concurrency: 3,
      execute: async ({ log }) => {
        most = Math.max(most, made.worker.active);
        await end.promise;
        await log.step(finished());
      },
    });
    const { worker, journal, clock, enqueue } = made;
    for (let run = 0; run < 5; run++) await enqueue();
    const answer = Promise.withResolvers<void>();
    const claim = journal.claim.bind(journal);
    journal.claim = async (...given) => {
      const claims = await claim(...given);
      await answer.promise;
      return claims;
    };
    const release = worker.reserve();
    expect(worker.room).to.equal(2);
    await worker.start();
    await clock.advance(0);
    expect(worker.room, "a claim of two is on its way").to.equal(0);
    worker.offer(await claimed(journal));
    release();
    release();
    answer.resolve();
    await clock.advance(3_000);
    expect([most, worker.room]).to.deep.equal([3, 0]);
    end.resolve();
    await clock.advance(3_000);
    expect([most, worker.active, worker.room]).to.deep.equal([3, 0, 3]);
    worker.reserve()();
    expect(worker.room).to.equal(3);
    await worker.stop();
  });
});

describe("a worker that claims", () => {
  it("asks for at most 64 at once, at once again after a full answer, and passes its filter on", async () => {
    const { worker, clock, journal, enqueue, stateOf } = await bench({ claims: () => ({ agents: ["a"] }) });
    const asked: unknown[] = [];
    const claim = journal.claim.bind(journal);
    journal.claim = (name, limit, filter) => {
      asked.push([name, limit, filter]);
      return claim(name, limit, filter);
    };
    const runs: string[] = [];
    for (let count = 0; count < 70; count++) runs.push(await enqueue());
    await worker.start();
    for (let turns = 0; turns < 10; turns++) await clock.advance(0); // eight start in each
    expect(asked.slice(0, 2)).to.deep.equal([
      ["w1", 64, { agents: ["a"] }],
      ["w1", 64, { agents: ["a"] }],
    ]);
    for (const run of runs) expect(await stateOf(run)).to.equal("done");
    await worker.stop();
  });

  it("asks once a second without hints, logs a failure and goes on", async () => {
    const { worker, clock, journal, line, enqueue, stateOf } = await bench();
    journal.onHint = () => () => {};
    await worker.start();
    await clock.advance(0);
    const run = await enqueue();
    const claim = journal.claim.bind(journal);
    journal.claim = () => Promise.reject(down());
    await clock.advance(999);
    expect(line("claiming failed")).to.equal(undefined);
    await clock.advance(1);
    expect(line("claiming failed")).to.deep.include({ level: "warn", fields: { error: "down" } });
    journal.claim = claim;
    await clock.advance(1_000);
    expect(await stateOf(run)).to.equal("done");
    await worker.stop();
  });

  it("does so at once on a hint of work, and not on one of signals", async () => {
    const { worker, clock, journal } = await bench();
    const hints: ((hint: Hint) => void)[] = [];
    journal.onHint = (callback) => {
      hints.push(callback);
      return () => {};
    };
    let asked = 0;
    journal.claim = async () => {
      asked += 1;
      return [];
    };
    await worker.start();
    await clock.advance(0);
    expect(asked).to.equal(1);
    for (const hint of hints) hint({ work: false, events: () => true, signals: () => true });
    await clock.advance(0);
    expect(asked).to.equal(1);
    for (const hint of hints) hint({ work: true, events: () => false });
    await clock.advance(0);
    expect(asked).to.equal(2);
    await worker.stop();
  });

  it("starts no more than eight runs in one turn of the event loop", async () => {
    let started = 0;
    const { worker, journal, enqueue } = await bench({
      execute: async ({ log }) => {
        started += 1;
        await log.step(finished());
      },
    });
    for (let count = 0; count < 20; count++) await enqueue();
    const claims = await journal.claim("w1", 20);
    await worker.start();
    for (const claim of claims) worker.offer(claim);
    for (let hop = 0; hop < 50; hop++) await Promise.resolve();
    expect(started).to.equal(8);
    while (started < 20) await new Promise((resolve) => setImmediate(resolve));
    await worker.stop();
  });

  it("says which run it took over from another epoch", async () => {
    const { worker, clock, journal, lines, enqueue } = await bench();
    const run = await enqueue();
    const [claim] = await journal.claim("dead", 1);
    await journal.release(claim?.ownership ?? expect.fail());
    const fresh = await enqueue();
    await worker.start();
    await clock.advance(0);
    expect(lines).to.deep.equal([
      { level: "info", message: "run taken over", fields: { run, epoch: 2, worker: "w1" } },
    ]);
    expect((await journal.get(fresh))?.state).to.equal("done");
    await worker.stop();
  });

  it("that is offered a run while it stops gives it back", async () => {
    const { worker, journal, stateOf } = await bench();
    await worker.stop();
    const claim = await claimed(journal, "w1");
    worker.offer(claim);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await stateOf(claim.ownership.run)).to.equal("ready");
    expect(worker.active).to.equal(0);
  });
});

describe("a worker that missed heartbeats", () => {
  it("claims nothing until half a lease after the next one, and then the run of a dead one too", async () => {
    const { worker, clock, journal, enqueue, stateOf } = await bench({ lease: 9_000 });
    const run = await enqueue();
    await journal.claim("dead", 1);
    await worker.start();
    const heartbeat = journal.heartbeat.bind(journal);
    journal.heartbeat = () => Promise.reject(down());
    await clock.advance(10_000);
    expect(await stateOf(run)).to.equal("running");
    journal.heartbeat = heartbeat;
    await clock.advance(2_000 + 4_499);
    expect(await stateOf(run)).to.equal("running");
    await clock.advance(1_001);
    expect(await stateOf(run)).to.equal("done");
    await worker.stop();
  });

  it("is none that was only started late", async () => {
    const { worker, clock, enqueue, stateOf } = await bench({ lease: 9_000 });
    await clock.advance(60_000);
    const run = await enqueue();
    await worker.start();
    await clock.advance(0);
    expect(await stateOf(run)).to.equal("done");
    await worker.stop();
  });
});

describe("a worker's heartbeat", () => {
  it("comes three times per lease; a failure is logged and does not stop it", async () => {
    const { worker, clock, journal, line } = await bench({ lease: 9_000 });
    const beats: number[] = [];
    let fails = true;
    const begun = clock.monotonic();
    journal.heartbeat = async () => {
      beats.push(clock.monotonic() - begun);
      if (fails) throw down();
    };
    await worker.start();
    expect(line("heartbeat failed; retrying")).to.deep.include({ level: "warn", fields: { error: "down" } });
    fails = false;
    await clock.advance(9_000);
    expect(beats).to.deep.equal([0, 3_000, 6_000, 9_000]);
    await worker.stop();
    await clock.advance(9_000);
    expect(beats).to.have.length(4);
    expect(clock.pending).to.equal(0);
  });

  it("repairs a release that failed", async () => {
    const { worker, clock, journal, enqueue, stateOf } = await bench({
      lease: 9_000,
      execute: async () => {
        throw new VenturiError("agent.run", "unavailable", "later");
      },
    });
    const release = journal.release.bind(journal);
    journal.release = () => Promise.reject(down());
    const run = await enqueue();
    await worker.start();
    await clock.advance(1_500);
    expect(await stateOf(run)).to.equal("running");
    journal.release = release;
    worker.rest();
    await clock.advance(1_500);
    expect(await stateOf(run)).to.equal("ready");
    await worker.stop();
  });
});

describe("a run that cannot be executed", () => {
  const cases: readonly (readonly [string, () => unknown, number, string | undefined])[] = [
    ["a retryable error is tried again", () => new VenturiError("x", "unavailable", "later"), 6, undefined],
    [
      "a permanent error ends the run at once",
      () => new VenturiError("x", "config_invalid", "no agent"),
      1,
      "config_invalid",
    ],
    ["an unexpected error ends it at the third time", () => new TypeError("a bug"), 3, "internal"],
    ["so does an internal one", () => new VenturiError("x", "internal", "a bug"), 3, "internal"],
  ];
  for (const [what, thrown, tries, code] of cases) {
    it(what, async () => {
      let tried = 0;
      const { worker, clock, journal, lines, enqueue } = await bench({
        execute: async () => {
          tried += 1;
          throw thrown();
        },
      });
      const run = await enqueue();
      await worker.start();
      await clock.advance(5_500);
      expect(tried).to.equal(tries);
      const row = await journal.get(run);
      const events = await journal.read(run, 0, 10);
      if (code === undefined) expect([row?.state, events]).to.deep.equal(["running", []]);
      else {
        expect(row).to.include({ state: "done", outcome: "failed" });
        expect(events.map(({ type }) => type)).to.deep.equal(["run.started", "run.failed"]);
        expect(events[0]).to.deep.include({ agent: "a", input: {} });
        expect(events[1]).to.deep.include({ output: "", rounds: 0, usage: {} });
        expect(events[1]).to.have.nested.property("error.code", code);
      }
      const message = (thrown() as Error).message;
      const released = lines.filter((line) => line.message === "run failed unexpectedly; released for another attempt");
      expect(released).to.have.length(code === undefined ? tries : tries - 1);
      if (released[0]) {
        expect(released[0]).to.deep.include({
          level: "error",
          fields: { run, epoch: 1, code: code ?? "unavailable", error: message },
        });
      }
      const over = lines.filter((line) => line.message === "run cannot be executed; ended as failed");
      expect(over.map(({ level, fields }) => [level, fields])).to.deep.equal(
        code === undefined ? [] : [["error", { run, ms: 0, code, error: message }]],
      );
      await worker.stop();
    });
  }

  it("is not started again by its end when it has events", async () => {
    let first = true;
    const { worker, clock, journal, enqueue } = await bench({
      execute: async ({ log }) => {
        if (!first) throw new VenturiError("x", "config_invalid", "gone");
        first = false;
        await log.step(started());
        throw new VenturiError("x", "unavailable", "later");
      },
    });
    const run = await enqueue();
    await worker.start();
    await clock.advance(3_000);
    expect((await journal.read(run, 0, 10)).map(({ type }) => type)).to.deep.equal(["run.started", "run.failed"]);
    const written = await bench({
      execute: async ({ log }) => {
        log.write(started());
        throw new VenturiError("x", "config_invalid", "gone");
      },
    });
    const other = await written.enqueue();
    await written.worker.start();
    await written.clock.advance(0);
    expect((await written.journal.read(other, 0, 10)).map(({ type }) => type)).to.deep.equal([
      "run.started",
      "run.failed",
    ]);
    await Promise.all([worker.stop(), written.worker.stop()]);
  });

  it("has its failure count reset after a success", async () => {
    let tries = 0;
    const { worker, clock, journal, enqueue } = await bench({
      execute: async ({ log }) => {
        tries += 1;
        if (tries === 3) return;
        if (tries <= 5) throw new Error("a bug");
        await log.step(started());
        await log.step(finished());
      },
    });
    const run = await enqueue();
    await worker.start();
    await clock.advance(9_000);
    expect(await journal.get(run)).to.include({ state: "done", outcome: "finished" });
    await worker.stop();
  });

  it("waits a second before it can be claimed again", async () => {
    const { worker, clock, enqueue, stateOf } = await bench({
      execute: async () => {
        throw new VenturiError("x", "unavailable", "later");
      },
    });
    const run = await enqueue();
    await worker.start();
    worker.rest();
    await clock.advance(999);
    expect(await stateOf(run)).to.equal("running");
    await clock.advance(1);
    expect(await stateOf(run)).to.equal("ready");
    await worker.stop();
  });

  it("that was interrupted is released without a failure, and its line is no error", async () => {
    const reasons: string[] = [];
    const { worker, clock, lines, enqueue, stateOf } = await bench({
      execute: async ({ log, signal }) => {
        await log.step(started());
        await untilAborted(signal);
        reasons.push(signal.reason.op);
        throw signal.reason;
      },
    });
    const run = await enqueue();
    await worker.start();
    await clock.advance(0);
    await worker.stop();
    expect(lines.map(({ level, message, fields }) => [level, message, fields.code])).to.deep.equal([
      ["info", "run released", "shutting_down"],
    ]);
    expect(await stateOf(run)).to.equal("ready");
    expect(reasons).to.deep.equal(["worker.stop"]);
  });

  it("that another worker took over stops here, and is not released", async () => {
    const { worker, clock, journal, lines, enqueue, stateOf } = await bench({
      execute: async ({ log, signal }) => {
        await log.step(started());
        await untilAborted(signal);
        throw signal.reason;
      },
    });
    const run = await enqueue();
    await worker.start();
    await clock.advance(0);
    worker.rest();
    const [ownership] = await journal.held("w1");
    await journal.release(ownership ?? expect.fail());
    await journal.claim("w2", 1);
    const row = await journal.get(run);
    expect(row).to.include({ state: "running", epoch: 2 });
    await clock.advance(0);
    expect(lines).to.deep.equal([]);
    await worker.stop();
    expect(await stateOf(run)).to.equal("running");
  });
});

describe("a run that this worker claims again", () => {
  /** Executions that last until they are aborted, by epoch. */
  const lasting = async (more: Partial<WorkerOptions> = {}) => {
    const begun: number[] = [];
    const ended: number[] = [];
    const made = await bench({
      execute: async ({ claim, signal }) => {
        begun.push(claim.ownership.epoch);
        await untilAborted(signal);
        ended.push(claim.ownership.epoch);
        throw signal.reason;
      },
      ...more,
    });
    return { ...made, begun, ended };
  };
  const claimOf = async ({ journal }: { journal: MemoryJournal }) => (await journal.claim("w1", 1))[0] ?? expect.fail();

  it("after it released the first lease as idle is not executed under that one: its response came late", async () => {
    const made = await lasting();
    const { worker, journal, clock, enqueue, begun } = made;
    await enqueue();
    const late = await claimOf(made);
    const again = journal.claim.bind(journal);
    journal.claim = async () => [];
    await worker.start();
    await clock.advance(30_000);
    expect((await journal.held("w1")).length, "released").to.equal(0);
    expect(worker.isVoid(late)).to.equal(true);
    worker.offer(late);
    await clock.advance(0);
    expect([worker.active, begun]).to.deep.equal([0, []]);
    journal.claim = again;
    await clock.advance(1_000);
    expect(begun).to.deep.equal([2]);
    await worker.stop();
  });

  it("does not begin under the older lease when what it read for that comes late, nor takes the run's signals", async () => {
    const heard: number[] = [];
    const made = await bench({
      execute: async ({ claim, signal, signals }) => {
        signals.subscribe(0, () => heard.push(claim.ownership.epoch));
        await untilAborted(signal);
        throw signal.reason;
      },
    });
    const { worker, journal, clock, enqueue } = made;
    const run = await enqueue();
    await journal.signal(run, { id: "a", kind: "message", body: { text: "a" } });
    const older = await claimOf(made);
    await journal.release({ ...older.ownership });
    const newer = await claimOf(made);
    const read = journal.signals.bind(journal);
    const late = Promise.withResolvers<void>();
    journal.signals = async (...given) => {
      journal.signals = read;
      await late.promise;
      return read(...given);
    };
    await worker.start();
    worker.offer(older);
    worker.offer(newer);
    await clock.advance(0);
    expect(heard).to.deep.equal([2]);
    late.resolve();
    await clock.advance(0);
    await journal.signal(run, { id: "b", kind: "message", body: { text: "b" } });
    await clock.advance(1_000);
    expect(heard).to.deep.equal([2, 2]);
    await worker.stop();
  });

  it("is executed under the newer lease alone, whichever comes first", async () => {
    const watched: string[] = [];
    const watch = { begin: () => watched.push("begin"), end: () => watched.push("end") };
    const made = await lasting({ watch });
    const { worker, journal, clock, enqueue, begun, ended } = made;
    const claims: Claim[] = [];
    await enqueue();
    for (let count = 0; count < 3; count++) {
      const claim = await claimOf(made);
      claims.push(claim);
      if (count < 2) await journal.release({ ...claim.ownership });
    }
    const [first, second, third] = claims;
    worker.offer(second ?? expect.fail());
    worker.offer(first ?? expect.fail());
    await clock.advance(0);
    expect([begun, ended]).to.deep.equal([[2], []]);
    worker.offer(third ?? expect.fail());
    worker.offer(third ?? expect.fail());
    await clock.advance(0);
    expect([begun, ended, worker.active]).to.deep.equal([[2, 3], [2], 1]);
    await clock.advance(5_000);
    expect(watched, "the older one's end is not the run's").to.deep.equal(["begin", "begin"]);
    await worker.stop();
    expect([ended, worker.active]).to.deep.equal([[2, 3], 0]);
    expect(watched).to.deep.equal(["begin", "begin", "end"]);
  });
});

describe("a worker without a given name", () => {
  it("has a name like no other, with its process in it", () => {
    expect(newWorkerName()).to.match(new RegExp(`^${process.pid}-[0-9a-f-]{36}$`));
    expect(newWorkerName(7)).to.match(/^7-/);
    expect(newWorkerName(7)).not.to.equal(newWorkerName(7));
  });
});

describe("leases without work", () => {
  const held = (run: string, epoch = 1): Ownership => ({ run, session: undefined, epoch, worker: "w1", head: 0 });

  it("are released when they were found idle twice in a row, and only then", async () => {
    const released: string[] = [];
    let holdings = [held("idle"), held("busy"), held("late")];
    const journal = {
      held: async () => holdings,
      release: async ({ run }: Ownership) => void released.push(run),
    } as never;
    const stray = new StrayLeases(journal, "w1", ({ run }) => run === "busy");
    await stray.reconcile();
    expect(released).to.deep.equal([]);
    holdings = [held("idle"), held("busy"), held("late", 2)];
    await stray.reconcile();
    expect(released).to.deep.equal(["idle"]);
    holdings = [held("busy"), held("late", 2)];
    await stray.reconcile();
    expect(released).to.deep.equal(["idle", "late"]);
  });

  it("are looked for once at a time, and again after the journal failed", async () => {
    let asked = 0;
    let answer = Promise.withResolvers<Ownership[]>();
    const journal = {
      held: () => {
        asked += 1;
        return answer.promise;
      },
    } as never;
    const stray = new StrayLeases(journal, "w1", () => false);
    const first = stray.reconcile();
    await stray.reconcile();
    expect(asked).to.equal(1);
    answer.reject(new Error("down"));
    await first;
    answer = Promise.withResolvers();
    answer.resolve([]);
    await stray.reconcile();
    expect(asked).to.equal(2);
  });

  it("that could not be released are tried again until they are", async () => {
    let fails = true;
    let asked = 0;
    const journal = {
      release: async () => {
        asked += 1;
        if (fails) throw new Error("down");
      },
    } as never;
    const stray = new StrayLeases(journal, "w1", () => false);
    await stray.release(held("r"));
    await stray.retryReleases();
    expect(asked).to.equal(2);
    fails = false;
    await stray.retryReleases();
    await stray.retryReleases();
    expect(asked).to.equal(3);
  });

  it("of a dead worker are freed at once, all of them and nobody else's", async () => {
    const journal = memory();
    const dead = [await claimed(journal, "dead"), await claimed(journal, "dead")];
    const alive = await claimed(journal, "alive");
    expect(await freeRunsOf("dead", journal)).to.equal(2);
    for (const { ownership } of dead) expect((await journal.get(ownership.run))?.state).to.equal("ready");
    expect((await journal.get(alive.ownership.run))?.state).to.equal("running");
    expect(await freeRunsOf("dead", journal)).to.equal(0);
  });
});

describe("a run whose history is shorter than its head", () => {
  it("is not executed on what is left of it", async () => {
    const executed: RunEvent[][] = [];
    const { worker, clock, journal, line, enqueue } = await bench({
      execute: async ({ history }) => void executed.push([...history]),
    });
    const run = await enqueue();
    const [claim] = await journal.claim("dead", 1);
    const { ownership } = claim ?? expect.fail();
    const first = { ...(started() as EventBody), run, seq: 1, at: 1 } as RunEvent;
    await journal.append([{ ownership, events: [first], state: "ready" }]);
    journal.read = async () => [];
    await worker.start();
    await clock.advance(0);
    expect(executed).to.deep.equal([]);
    expect(line("run failed unexpectedly; released for another attempt")?.fields).to.include({ code: "internal" });
    expect(line("run failed unexpectedly; released for another attempt")?.fields.error).to.match(
      /should have 1 events but ends at 0$/,
    );
    await worker.stop();
  });
});
