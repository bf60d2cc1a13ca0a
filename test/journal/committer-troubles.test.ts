import { expect } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import { systemClock } from "../../src/core/ports/clock.ts";
import type { EventBody, RunEvent } from "../../src/core/run/events.ts";
import { Committer, type CommitterOptions } from "../../src/journal/committer.ts";
import { endInstead } from "../../src/journal/last-words.ts";
import type { OwnedLog, Reader } from "../../src/journal/run-log.ts";
import { RunSignalFeed, SignalWatch } from "../../src/journal/signals.ts";
import { StartTurns } from "../../src/journal/start-turns.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { recorder } from "./log-recorder.ts";
import { claimed, delta, finished, gated, memory, seqs, started } from "./setup.ts";

const failing = (code: "journal_failed" | "record_invalid" = "journal_failed") =>
  new VenturiError("journal.append", code, "no");

async function bench(options: Partial<CommitterOptions> = {}) {
  const clock = new VirtualClock();
  const journal = gated();
  const { log, lines, line } = recorder();
  const handed: number[][] = [];
  const told: string[] = [];
  const reader: Reader = { hand: (events) => void handed.push(seqs(events)) };
  const committer = new Committer({
    journal,
    clock,
    log,
    listener: {
      opened: ({ run }) => {
        told.push(`opened ${run}`);
        return [reader];
      },
      closed: ({ run }) => void told.push(`closed ${run}`),
    },
    ...options,
  });
  const open = async (): Promise<OwnedLog> => committer.openLog((await claimed(journal)).ownership);
  return { clock, journal, committer, open, lines, line, handed, told };
}

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "resolved",
    (thrown) => thrown.code,
  );

describe("a committer", () => {
  it("hands events to the run's readers once they are durable, and tells its listener of the log's end", async () => {
    const { open, clock, journal, handed, told } = await bench();
    const log = await open();
    const { run } = log.ownership;
    const release = journal.shut();
    log.write(started());
    log.write(delta("a"));
    await clock.advance(0);
    expect(handed).to.deep.equal([]);
    release();
    await clock.advance(0);
    expect(handed).to.deep.equal([[1, 2]]);
    expect(told).to.deep.equal([`opened ${run}`]);
    const end = log.step(finished());
    await clock.advance(0);
    await end;
    expect(handed).to.deep.equal([[1, 2], [3]]);
    expect(told).to.deep.equal([`opened ${run}`, `closed ${run}`]);
  });

  it("counts commits and their time", async () => {
    const { open, clock, journal, committer } = await bench();
    const log = await open();
    for (const ms of [3, 5, 2]) {
      const release = journal.shut();
      const step = log.step(delta("x"));
      await clock.advance(ms);
      release();
      await clock.advance(0);
      await step;
    }
    expect(committer.commits).to.deep.equal({ count: 3, ms: 10, longestMs: 5 });
  });

  it("tells how much a run has written, once for each 64 KB or more", async () => {
    const journal = memory();
    const grew: [string, number][] = [];
    const committer = new Committer({ journal, clock: systemClock, grew: (run, bytes) => grew.push([run, bytes]) });
    const { ownership } = await claimed(journal);
    const log = committer.openLog(ownership);
    for (let time = 0; time < 5; time++) {
      log.write(delta("x".repeat(30_000)));
      await log.flush();
    }
    expect(grew.map(([run]) => run)).to.deep.equal([ownership.run]);
    expect(grew[0]?.[1]).to.be.within(90_000, 95_000);
    log.write(delta("x".repeat(100_000)));
    await log.flush();
    expect(grew).to.have.length(2);
    expect(grew[1]?.[1]).to.be.within(160_000, 165_000);
  });

  it("tells of an ended run with its digest, not of others", async () => {
    const ended: unknown[] = [];
    const { open, clock } = await bench({ ended: (digest) => ended.push(digest) });
    const { DigestFold } = await import("../../src/core/run/digest.ts");
    const [one, plain] = [await open(), await open()];
    one.digest = new DigestFold(one.ownership.run, { agent: "a", input: { text: "hi" } });
    const steps = [one.step(started()), plain.step(started())];
    await clock.advance(10);
    const ends = [one.step(finished("x")), plain.step(finished())];
    await clock.advance(10);
    await Promise.all([...steps, ...ends]);
    expect(ended).to.have.length(1);
    expect(ended[0]).to.include({ run: one.ownership.run });
  });

  it("splits what is larger than a transaction: each goes into one of its own, in order", async () => {
    const { open, clock, journal } = await bench({ maxUncommitted: 1e9 });
    const logs = [await open(), await open(), await open(), await open()];
    const long = "x".repeat(17 * 1024 * 1024);
    const steps = logs.map((log) => log.step(delta(long)));
    await clock.advance(20);
    await Promise.all(steps);
    expect(journal.batches.map((batch) => batch.length)).to.deep.equal([1, 1, 1, 1]);
    expect(journal.batches.flat().map(({ ownership }) => ownership)).to.deep.equal(
      logs.map(({ ownership }) => ownership),
    );
  });

  it("leaves out a log that ended while it waited", async () => {
    const { open, clock, journal } = await bench();
    const [one, two] = [await open(), await open()];
    const release = journal.shut();
    one.write(started());
    await clock.advance(0);
    one.write(delta("late"));
    two.write(started());
    two.abandon();
    one.abandon();
    release();
    await clock.advance(20);
    expect(journal.batches).to.have.length(1);
    const three = await open();
    const step = three.step(started());
    await clock.advance(0);
    await step;
    expect(journal.batches).to.have.length(2);
  });

  it("accepts a synchronous answer, and an error thrown instead of rejected", async () => {
    for (const fails of [false, true]) {
      const { open, clock, journal } = await bench({ patience: 0 });
      const log = await open();
      journal.append = (() => {
        if (fails) throw failing();
        return new Set();
      }) as never;
      const step = codeOf(log.step(started()));
      await clock.advance(0);
      expect(await step).to.equal(fails ? "journal_failed" : "resolved");
    }
  });

  it("says that an engine fails once and that it is back, with the number of tries", async () => {
    const { open, clock, journal, lines } = await bench();
    journal.failures = 3;
    const log = await open();
    const step = log.step(started());
    await clock.advance(400);
    await step;
    expect(lines).to.deep.equal([
      {
        level: "warn",
        message: "journal append failed; retrying",
        fields: { code: "journal_failed", error: "the engine is down" },
      },
      { level: "info", message: "journal append succeeded again", fields: { tries: 3 } },
    ]);
    expect(journal.batches).to.have.length(4);
  });

  it("keeps trying a failing engine for two minutes, then fails the runs of the batch alone", async () => {
    const { open, clock, journal } = await bench();
    journal.failures = Number.POSITIVE_INFINITY;
    const [one, two] = [await open(), await open()];
    const steps = [codeOf(one.step(started())), codeOf(two.step(started()))];
    await clock.advance(119_000);
    expect([one.ended, two.ended]).to.deep.equal([false, false]);
    await clock.advance(3_000);
    expect(await Promise.all(steps)).to.deep.equal(["journal_failed", "journal_failed"]);
    expect([one.ended, two.ended, one.signal.aborted]).to.deep.equal([true, true, true]);
  });

  it("that is closed gives up a failing engine at once", async () => {
    const { open, clock, journal, committer } = await bench();
    journal.failures = Number.POSITIVE_INFINITY;
    const log = await open();
    const step = log.step(started()).catch((thrown) => thrown);
    await clock.advance(10);
    committer.close();
    expect(await step).to.include({ op: "journal.append", code: "shutting_down" });
    expect(log.signal.aborted).to.equal(true);
    await clock.advance(5_000);
    expect(journal.batches).to.have.length(1);
  });

  it("ends a run whose record is refused for good, durably, with a line and for its readers", async () => {
    const { open, clock, journal, handed, lines } = await bench();
    const append = journal.append.bind(journal);
    journal.append = async (batch) => {
      if (batch.some(({ events }) => events.some(({ type }) => type === "text.delta"))) throw failing("record_invalid");
      return append(batch);
    };
    const log = await open();
    const { run } = log.ownership;
    const first = log.step(started());
    await clock.advance(0);
    await first;
    const step = log.step(delta("poison")).catch((thrown) => thrown);
    await clock.advance(10);
    expect(await step).to.include({ op: "journal.append", code: "record_invalid", message: "no" });
    expect(lines).to.deep.equal([
      {
        level: "error",
        message: "record cannot be stored; run ended as failed",
        fields: { run, code: "record_invalid", error: "no" },
      },
    ]);
    expect(handed).to.deep.equal([[1], [2]]);
    expect((await journal.read(run, 1, 10))[0]).to.deep.include({ type: "run.failed", output: "", rounds: 0 });
    expect(await journal.get(run)).to.include({ state: "done", outcome: "failed" });
  });

  it("logs when even the end of such a run is refused, and does not deliver it to readers", async () => {
    const { open, clock, journal, handed, lines } = await bench();
    const log = await open();
    journal.append = async () => {
      throw failing("record_invalid");
    };
    const step = codeOf(log.step(started()));
    await clock.advance(10);
    expect(await step).to.equal("record_invalid");
    expect(lines.map(({ level, message }) => [level, message])).to.deep.equal([
      ["error", "record cannot be stored; run ended as failed"],
      ["error", "the run's terminal event cannot be stored either"],
    ]);
    expect(lines[1]?.fields).to.deep.equal({ run: log.ownership.run, error: "no" });
    expect(handed).to.deep.equal([]);
  });

  it("does not show readers the end of a run that another worker took over meanwhile", async () => {
    const { open, clock, journal, handed } = await bench();
    const log = await open();
    let first = true;
    journal.append = async () => {
      if (first) {
        first = false;
        throw failing("record_invalid");
      }
      return new Set([log.ownership]);
    };
    const step = codeOf(log.step(started()));
    await clock.advance(10);
    expect(await step).to.equal("record_invalid");
    expect(handed).to.deep.equal([]);
  });

  it("tells a fenced owner which run and epoch it lost", async () => {
    const { open, clock, journal, handed } = await bench();
    const log = await open();
    journal.append = async () => new Set([log.ownership]);
    const step = log.step(started()).catch((thrown) => thrown);
    await clock.advance(0);
    expect(await step).to.deep.include({
      op: "journal.append",
      code: "conflict",
      details: { fenced: true, run: log.ownership.run, epoch: 1 },
    });
    expect(handed).to.deep.equal([]);
  });
});

describe("the end of a run that cannot write its own", () => {
  const error = new VenturiError("journal.append", "record_invalid", "too big");
  const ownership = { run: "r", session: undefined, epoch: 1, worker: "w", head: 0 };
  const item = (head: number, first: EventBody) => ({
    ownership: { ...ownership, head },
    events: [{ ...first, run: "r", seq: head + 1, at: 77 } as RunEvent],
  });

  it("starts the run if nothing of it is stored, and follows its last event otherwise", () => {
    const fresh = endInstead(item(0, started()), error, 99);
    expect(fresh.state).to.equal("done");
    expect(fresh.events).to.deep.equal([
      { type: "run.started", agent: "a", input: {}, run: "r", seq: 1, at: 77 },
      { ...fresh.events[1], run: "r", seq: 2, at: 77 },
    ]);
    expect(fresh.events[1]).to.deep.include({
      type: "run.failed",
      error: { op: "journal.append", code: "record_invalid", err: "too big" },
    });
    expect(endInstead(item(0, delta("x")), error, 99).events[0]).to.include({ type: "run.started", agent: "" });
    const later = endInstead(item(4, delta("x")), error, 99).events;
    expect(later.map(({ type, seq }) => [type, seq])).to.deep.equal([["run.failed", 5]]);
  });
});

describe("signals of runs in this process", () => {
  const signal = (number: number) => ({ number, id: `s${number}`, kind: "message" as const, body: {} });
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  it("reach each subscriber once, from where it asked, until it leaves", () => {
    const feed = new RunSignalFeed("r", [signal(1), signal(2)]);
    const seen: number[] = [];
    const leave = feed.subscribe(1, ({ number }) => seen.push(number));
    feed.add([signal(2), signal(3)]);
    feed.add([signal(3), signal(1)]);
    expect([seen, feed.last]).to.deep.equal([[2, 3], 3]);
    leave();
    feed.add([signal(4)]);
    expect(seen).to.deep.equal([2, 3]);
    expect(new RunSignalFeed("r", []).last).to.equal(0);
  });

  it("are read on a hint about the run and on a poll for all, one read at a time", async () => {
    const asked: unknown[] = [];
    let answer = Promise.withResolvers<Map<string, ReturnType<typeof signal>[]>>();
    const journal = memory();
    journal.signalsMany = (cursors) => {
      asked.push(cursors);
      return answer.promise;
    };
    const watch = new SignalWatch(journal);
    const [one, two] = [new RunSignalFeed("one", [signal(1)]), new RunSignalFeed("two", [])];
    watch.add(one);
    watch.add(two);
    watch.onHint({ work: true, events: () => true });
    watch.onHint({ work: false, events: () => false, signals: () => false });
    expect(asked).to.deep.equal([]);
    watch.onHint({ work: false, events: () => false, signals: (run) => run === "one" });
    expect(asked).to.deep.equal([[{ run: "one", after: 1 }]]);
    watch.lookAtAll();
    expect(asked).to.have.length(1);
    const first = answer;
    answer = Promise.withResolvers();
    first.resolve(
      new Map([
        ["one", [signal(2)]],
        ["gone", [signal(1)]],
      ]),
    );
    await turn();
    expect(one.last).to.equal(2);
    expect(asked[1]).to.deep.equal([
      { run: "one", after: 2 },
      { run: "two", after: 0 },
    ]);
    answer.reject(new Error("down"));
    await turn();
    answer = Promise.withResolvers();
    watch.remove(new RunSignalFeed("one", []));
    watch.remove(two);
    watch.lookAtAll();
    expect(asked[2]).to.deep.equal([{ run: "one", after: 2 }]);
    answer.resolve(new Map());
    await turn();
    watch.remove(one);
    watch.lookAtAll();
    expect(asked).to.have.length(3);
  });
});

describe("a run that is claimed anew while its signals are read", () => {
  it("gets those that its older execution had, too", async () => {
    const journal = memory();
    const stored = [1, 2, 3].map((number) => ({ number, id: `s${number}`, kind: "message" as const, body: {} }));
    const answers: (() => void)[] = [];
    journal.signalsMany = (cursors) =>
      new Promise((resolve) => {
        const found = new Map(cursors.map(({ run, after }) => [run, stored.slice(after)]));
        answers.push(() => resolve(found));
      });
    const watch = new SignalWatch(journal);
    const older = new RunSignalFeed("r", stored.slice(0, 2));
    watch.add(older);
    watch.lookAtAll();
    watch.remove(older);
    // It was claimed before the second signal was stored.
    const newer = new RunSignalFeed("r", stored.slice(0, 1));
    const seen: number[] = [];
    newer.subscribe(0, ({ number }) => seen.push(number));
    watch.add(newer);
    for (let reads = 0; reads < 2; reads++) {
      answers.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(seen).to.deep.equal([1, 2, 3]);
  });
});

describe("the turns of starting runs", () => {
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  it("let eight start at once in each turn, also when earlier ones waited", async () => {
    const turns = new StartTurns(systemClock);
    const begun: number[] = [];
    const take = (run: number) => {
      const wait = turns.take();
      if (wait === undefined) begun.push(run);
      else void wait.then(() => begun.push(run));
    };
    for (let run = 0; run < 12; run++) take(run);
    expect(begun).to.have.length(8);
    await turn();
    expect(begun).to.have.length(12);
    // Four of this turn's eight are taken.
    for (let run = 12; run < 20; run++) take(run);
    expect(begun).to.have.length(16);
    await turn();
    expect(begun).to.have.length(20);
    await turn();
    await turn();
    for (let run = 20; run < 28; run++) take(run);
    expect(begun).to.deep.equal(Array.from({ length: 28 }, (_, run) => run));
  });
});
