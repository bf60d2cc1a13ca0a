import { expect } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Append, Ownership } from "../../src/core/journal/journal.ts";
import type { Billing } from "../../src/core/journal/money.ts";
import { DigestFold } from "../../src/core/run/digest.ts";
import type { EventBody, RunEvent } from "../../src/core/run/events.ts";
import { noTiming } from "../../src/core/run/timing.ts";
import { RunClocks } from "../../src/journal/run-clocks.ts";
import { OwnedLog } from "../../src/journal/run-log.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { delta, finished, started } from "./setup.ts";

/** A log whose owner notes what it is told and commits only when asked to. */
function open(head = 0, maxUncommitted = 1_000_000) {
  const ownership: Ownership = { run: "r", session: undefined, epoch: 3, worker: "w", head };
  const told: string[] = [];
  const clock = new VirtualClock(5_000);
  const log = new OwnedLog(ownership, {
    clock,
    clocks: new RunClocks(clock),
    maxUncommitted,
    changed: (_log, urgent) => told.push(urgent ? "urgent" : "changed"),
    closed: () => told.push("closed"),
  });
  const commit = (): Append => {
    const item = log.take();
    log.committed(item);
    return item;
  };
  return { log, ownership, told, commit };
}

const settled = async (promise: Promise<unknown>): Promise<string> => {
  let state = "pending";
  promise.then(
    () => {
      state = "resolved";
    },
    (error: unknown) => {
      state = VenturiError.isInstance(error) ? error.code : "rejected";
    },
  );
  await new Promise((resolve) => setImmediate(resolve));
  return state;
};

describe("the log of an owner", () => {
  it("stores the events that a fork copied before its own, and does not bill them again", () => {
    const { log, commit } = open();
    const added: string[] = [];
    log.billing = { add: ({ type }: RunEvent) => added.push(type), take: () => undefined } as unknown as Billing;
    const recalled = { type: "memory.recalled", notes: [], usage: { inputTokens: 5 } };
    const copied = [started(), recalled].map((body, index) => ({ ...body, run: "r", seq: index + 1, at: 1 }));
    log.adopt(copied as RunEvent[]);
    expect(log.head).to.equal(2);
    log.write(started());
    expect(commit().events.map(({ seq, at }) => [seq, at])).to.deep.equal([
      [1, 1],
      [2, 1],
      [3, 5_000],
    ]);
    expect(log.ownership.head).to.equal(3);
    expect(added).to.deep.equal(["run.started"]);
  });

  it("completes events with run, time and the seq after its head, and tells its owner", () => {
    const { log, told } = open(7);
    expect(log.head).to.equal(7);
    expect(log.write(delta("a"))).to.deep.equal({ ...delta("a"), run: "r", seq: 8, at: 5_000 });
    expect(log.write(delta("b"))).to.include({ seq: 9 });
    expect(log.head).to.equal(9);
    expect(told).to.deep.equal(["changed", "changed"]);
    expect(log.take()).to.deep.equal({
      pieces: true,
      ownership: log.ownership,
      events: [
        { ...delta("a"), run: "r", seq: 8, at: 5_000 },
        { ...delta("b"), run: "r", seq: 9, at: 5_000 },
      ],
    });
    expect(log.take().events).to.deep.equal([]);
  });

  it("asks for no commit of its own while all it has is in one, and resolves with that", async () => {
    const { log, told } = open();
    log.write(started());
    const item = log.take();
    const flushed = log.flush();
    expect(told).to.deep.equal(["changed"]);
    expect(await settled(flushed)).to.equal("pending");
    log.committed(item);
    expect(await settled(flushed)).to.equal("resolved");
    log.write(delta("a"));
    const inFlight = log.take();
    log.write(delta("b"));
    const both = log.flush();
    expect(told.at(-1)).to.equal("urgent");
    log.committed(inFlight);
    expect(await settled(both)).to.equal("pending");
    log.committed(log.take());
    expect(await settled(both)).to.equal("resolved");
    expect(await settled(log.flush())).to.equal("resolved");
  });

  const sized: readonly (readonly [string, object, number])[] = [
    ["text", { type: "text.delta", text: "12345" }, 96 + 5],
    ["a refusal", { type: "refusal.delta", text: "12345" }, 96 + 5],
    ["output of a tool", { type: "tool.output", call: "c", text: "12345" }, 96 + 5],
    ["reasoning", { type: "reasoning.delta", text: "12345" }, 96 + 5],
    ["encrypted reasoning", { type: "reasoning.delta", text: "12345", encrypted: "123" }, 96 + 8],
    ["a piece of arguments", { type: "tool_call.delta", call: "c", arguments: "12345" }, 96 + 5],
    ["rejected arguments", { type: "tool_call.rejected", call: "c", name: "n", arguments: "1234", error: {} }, 96 + 4],
    ["a tool's end", { type: "tool.finished", call: "c", name: "n" }, 96],
    ["a tool's result", { type: "tool.finished", call: "c", name: "n", output: "12345" }, 96 + 5],
    [
      "images and files of a tool",
      {
        type: "tool.finished",
        output: "1",
        images: [
          { mediaType: "i", data: "1234" },
          { mediaType: "i", hash: "h" },
        ],
        files: [{ mediaType: "f", data: "12" }],
      },
      96 + 1 + 4 + 96 + 2,
    ],
    ["the run's answer", { ...finished("12345") }, 96 + 5],
    ["the run's failure", { type: "run.failed", output: "123", error: {}, usage: {}, rounds: 0, timing: noTiming }, 99],
    ["anything else", { type: "round.started", round: 1, attempt: 1, model: "m" }, 4 * 96],
  ];
  for (const [what, body, bytes] of sized) {
    it(`counts what waits to be committed without encoding it: ${what}`, () => {
      const { log, commit } = open(0, bytes - 1);
      log.write({ round: 1, ...body } as EventBody);
      expect(log.waiting).to.equal(bytes);
      expect(log.pressure).to.be.a("promise");
      commit();
      expect(log.waiting).to.equal(0);
      expect(log.pressure).to.equal(undefined);
      const within = open(0, bytes).log;
      within.write({ round: 1, ...body } as EventBody);
      expect(within.pressure).to.equal(undefined);
    });
  }

  it("applies backpressure to its writer until uncommitted bytes are within the limit, with one promise", async () => {
    const { log, commit } = open(0, 200);
    log.write(delta("x".repeat(100)));
    const first = log.take();
    log.write(delta("x".repeat(100)));
    const { pressure } = log;
    log.write(delta("y".repeat(100)));
    expect(log.pressure).to.equal(pressure);
    log.committed(first);
    expect(await settled(pressure ?? Promise.reject())).to.equal("pending");
    commit();
    expect(await settled(pressure ?? Promise.reject())).to.equal("resolved");
    log.write(delta("x"));
    expect(log.pressure).to.equal(undefined);
  });

  it("counts what a fork copied among its uncommitted bytes", () => {
    const { log, commit } = open(0, 1_000);
    const copied = { ...delta("x".repeat(900)), run: "r", seq: 1, at: 1 } as RunEvent;
    log.adopt([copied]);
    expect(log.pressure).to.equal(undefined);
    log.write(delta("y".repeat(200)));
    expect(log.pressure).to.be.instanceOf(Promise);
    commit();
    expect(log.pressure).to.equal(undefined);
  });

  it("gives a terminal event its time, unless it has one", () => {
    expect(open().log.write(finished()).at).to.equal(5_000);
    expect(open().log.write({ ...finished(), ...{ at: 7_000 } }).at).to.equal(7_000);
    expect(open().log.write({ ...started(), ...{ at: 7_000 } }).at).to.equal(5_000);
  });

  it("flushes at once when all is durable, else urgently, and resolves when this seq is", async () => {
    const { log, told, commit } = open();
    expect(await settled(log.flush())).to.equal("resolved");
    expect(told).to.deep.equal([]);
    log.write(delta("a"));
    const one = log.flush();
    const item = log.take();
    log.write(delta("b"));
    const two = log.flush();
    expect(told).to.deep.equal(["changed", "urgent", "changed", "urgent"]);
    log.committed(item);
    expect([await settled(one), await settled(two)]).to.deep.equal(["resolved", "pending"]);
    expect(log.ownership.head).to.equal(1);
    commit();
    expect(await settled(two)).to.equal("resolved");
    expect(await settled(log.flush())).to.equal("resolved");
  });

  it("ends with the terminal event: later writes get no seq, and it says so to its owner once", async () => {
    const { log, told, commit } = open();
    const end = log.step(finished("x"));
    expect(log.write(delta("late"))).to.include({ seq: 2 });
    expect(log.head).to.equal(1);
    expect(log.ended).to.equal(false);
    expect(commit()).to.deep.include({ state: "done" });
    expect(await end).to.include({ type: "run.finished", seq: 1 });
    expect(log.ended).to.equal(true);
    expect(log.signal.aborted).to.equal(false);
    log.write(delta("later"));
    log.abandon();
    log.fail(new VenturiError("o", "internal", "late"));
    expect(log.head).to.equal(1);
    expect(log.signal.aborted).to.equal(false);
    expect(told).to.deep.equal(["changed", "urgent", "closed"]);
    expect(await settled(log.park(0))).to.equal("internal");
  });

  it("carries the digest in the append that has the terminal event, if one is folded", () => {
    const digested = open();
    digested.log.digest = new DigestFold("r", { agent: "a", input: { text: "hi" } });
    digested.log.write(started());
    expect(digested.commit()).not.to.have.property("end");
    digested.log.write({ type: "tool_call.started", round: 1, call: "c", name: "look", index: 0 } as EventBody);
    digested.log.write(delta("answer"));
    digested.log.write(finished("answer"));
    const { end } = digested.commit();
    expect(end?.digest).to.include({ run: "r", agent: "a" });
    expect(digested.log.endAfter([])).to.deep.equal({});
    expect(digested.log.endAfter([digested.log.write(delta("x"))])).to.deep.equal({});
    const plain = open();
    plain.log.write(finished());
    expect(plain.commit()).not.to.have.property("end");
  });

  it("parks once, urgently and with what was written, and wakes after what was asked", async () => {
    for (const wakeAfter of [undefined, 0, 50]) {
      const { log, told, commit } = open();
      log.write(started());
      const parked = log.park(2, wakeAfter);
      expect(told).to.deep.equal(["changed", "urgent"]);
      expect(await settled(log.park(2))).to.equal("internal");
      expect(log.write(delta("late"))).to.include({ seq: 2 });
      const item = commit();
      expect(item).to.deep.equal({
        ownership: log.ownership,
        events: item.events,
        state: "waiting",
        seenSignals: 2,
        ...(wakeAfter === undefined ? {} : { wakeAfter }),
      });
      expect(item.events).to.have.length(1);
      expect(await settled(parked)).to.equal("resolved");
      expect(log.ended).to.equal(true);
    }
  });

  it("parks a run that has nothing to commit, too", async () => {
    const { log, commit } = open(4);
    const parked = log.park(0);
    expect(await settled(parked)).to.equal("pending");
    expect(commit()).to.deep.include({ events: [], state: "waiting" });
    expect(await settled(parked)).to.equal("resolved");
    expect(log.ownership.head).to.equal(4);
  });

  it("fails with everything that waits: flushes reject, the buffer is dropped, pressure is off, the signal tells why", async () => {
    const { log, told } = open(0, 50);
    log.write(delta("a"));
    const flushed = log.flush();
    const { pressure } = log;
    const error = new VenturiError("journal.append", "conflict", "taken over");
    log.fail(error);
    expect(await settled(flushed)).to.equal("conflict");
    expect(await settled(pressure ?? Promise.reject())).to.equal("resolved");
    expect(log.signal.reason).to.equal(error);
    expect([log.waiting, log.ended, log.pressure]).to.deep.equal([0, true, undefined]);
    expect(log.take().events).to.deep.equal([]);
    expect(await settled(log.flush())).to.equal("conflict");
    log.write(delta("late"));
    expect(log.head).to.equal(1);
    expect(told).to.deep.equal(["changed", "urgent", "closed"]);
  });

  it("abandoned by its writer, takes nothing more and tells its owner once", () => {
    const { log, told } = open();
    log.abandon();
    log.abandon();
    log.write(delta("late"));
    expect(log.head).to.equal(0);
    expect(told).to.deep.equal(["closed"]);
  });

  it("refuses a record that cannot be stored before it gets a seq", () => {
    const { log } = open();
    const bad = { type: "provider.activity", round: 1, kind: "part", wire: "w", data: { a: 1n } } as EventBody;
    expect(() => log.write(bad))
      .to.throw(VenturiError, /^the event provider.activity cannot be stored: it holds a bigint/)
      .that.deep.includes({
        op: "journal.append",
        code: "record_invalid",
        details: { run: "r", event: "provider.activity" },
      });
    expect(log.head).to.equal(0);
    const long = "x".repeat(64 * 1024 * 1024 - 96);
    expect(() => log.write(delta(`${long}y`)))
      .to.throw(VenturiError, /^the event text.delta cannot be stored: it is larger than 67108864 characters$/)
      .with.property("code", "record_invalid");
    expect(log.write(delta(long))).to.include({ seq: 1 });
  });
});
