import { getEventListeners } from "node:events";
import { expect } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Journal } from "../../src/core/journal/journal.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { Follower, type FollowerOptions } from "../../src/journal/follower.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { delta, finished, seqs } from "./setup.ts";

const event = (seq: number): RunEvent => ({ ...delta(`t${seq}`), run: "r", seq, at: seq }) as RunEvent;
const last = (seq: number): RunEvent => ({ ...finished(), run: "r", seq, at: seq }) as RunEvent;
const events = (first: number, count: number) => Array.from({ length: count }, (_, index) => event(first + index));
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A reader of a store that holds `stored`, and the reads it makes. */
function open(stored: RunEvent[], options: Partial<FollowerOptions> = {}) {
  const reads: string[] = [];
  const row = { state: "running", head: undefined as number | undefined };
  const left: Follower[] = [];
  const clock = new VirtualClock();
  const journal = {
    read: async (_run: string, after: number, limit: number) => {
      reads.push(`read ${after}`);
      return stored.filter(({ seq }) => seq > after).slice(0, limit);
    },
    get: async () => {
      reads.push("get");
      return { ...row, head: row.head ?? stored.length };
    },
  };
  const follower = new Follower("r", {
    journal: journal as unknown as Journal, // all that a reader asks
    clock,
    after: 0,
    current: false,
    maxQueued: 10,
    page: 5,
    patience: 1_000,
    signal: undefined,
    left: (gone) => left.push(gone),
    ...options,
  });
  return { follower, reads, row, left, clock, journal };
}

/** The seqs of what can be polled now. */
function polled({ follower }: { follower: Follower }): number[] | "end" | undefined {
  const step = follower.poll();
  if (step === undefined) return undefined;
  return step.done ? "end" : seqs(step.value);
}

async function arrived(opened: { follower: Follower }): Promise<ReturnType<typeof polled>> {
  await opened.follower.arrival();
  return polled(opened);
}

describe("a reader of a run", () => {
  it("that is up to date reads nothing and takes what it is handed", async () => {
    const opened = open([], { after: 3, current: true });
    const { follower, reads } = opened;
    expect([follower.idle, follower.position, polled(opened)]).to.deep.equal([true, 3, undefined]);
    const arrival = follower.arrival();
    expect(follower.arrival()).to.equal(arrival);
    follower.hand(events(4, 2));
    expect(follower.position).to.equal(5);
    await arrival;
    follower.hand(events(6, 1));
    expect(follower.position).to.equal(6);
    expect(polled(opened)).to.deep.equal([4, 5, 6]);
    expect(polled(opened)).to.equal(undefined);
    expect(follower.position).to.equal(6);
    expect(reads).to.deep.equal([]);
  });

  it("passes over what it has: a repeated batch, an overlap, an empty one", () => {
    const opened = open([], { after: 3, current: true });
    const { follower } = opened;
    follower.hand(events(1, 3));
    follower.hand([]);
    expect(polled(opened)).to.equal(undefined);
    follower.hand(events(2, 4));
    expect(polled(opened)).to.deep.equal([4, 5]);
    follower.hand(events(5, 3));
    follower.hand(events(6, 3));
    expect(polled(opened)).to.deep.equal([6, 7, 8]);
    expect(follower.idle).to.equal(true);
  });

  it("goes to the store when a batch is missing, and gets everything in order", async () => {
    const opened = open(events(1, 4), { after: 1, current: true });
    const { follower, reads } = opened;
    follower.hand(events(4, 1));
    expect([follower.idle, follower.position, polled(opened)]).to.deep.equal([false, 1, undefined]);
    expect(await arrived(opened)).to.deep.equal([2, 3, 4]);
    expect(reads).to.deep.equal(["read 1"]);
    expect(follower.idle).to.equal(true);
    // Also when the batch is missing after what is queued.
    const other = open(events(1, 5), { after: 0, current: true });
    other.follower.hand(events(1, 2));
    other.follower.hand(events(4, 1));
    expect(other.follower.position).to.equal(0);
    expect(await arrived(other)).to.deep.equal([1, 2, 3, 4, 5]);
  });

  it("queues no more than it may, and then reads from the store", async () => {
    const full = open(events(1, 12), { current: true, maxQueued: 10, page: 20 });
    full.follower.hand(events(1, 9));
    full.follower.hand(events(10, 1));
    expect(full.follower.position).to.equal(10);
    full.follower.hand(events(11, 1));
    expect([full.follower.position, full.follower.idle]).to.deep.equal([0, false]);
    expect(await arrived(full)).to.have.length(12);
    expect(full.reads).to.deep.equal(["read 0"]);
  });

  it("starts with the store, page by page, and asks for the row only when a page is empty", async () => {
    const opened = open(events(1, 12), { page: 5 });
    const { follower, reads } = opened;
    expect([polled(opened), follower.idle]).to.deep.equal([undefined, false]);
    expect(await arrived(opened)).to.deep.equal([1, 2, 3, 4, 5]);
    expect(follower.idle).to.equal(false);
    expect(await arrived(opened)).to.deep.equal([6, 7, 8, 9, 10]);
    expect(await arrived(opened)).to.deep.equal([11, 12]);
    expect(follower.idle).to.equal(true);
    expect(reads).to.deep.equal(["read 0", "read 5", "read 10"]);
  });

  it("that has read everything stored waits for what it is handed", async () => {
    const opened = open(events(1, 5), { page: 5 });
    const { follower, reads } = opened;
    expect(await arrived(opened)).to.deep.equal([1, 2, 3, 4, 5]);
    const waiting = arrived(opened);
    await turn();
    expect(reads).to.deep.equal(["read 0", "read 5", "get"]);
    expect(follower.idle).to.equal(true);
    follower.hand(events(6, 1));
    expect(await waiting).to.deep.equal([6]);
  });

  it("reads again when the row has a later head than the page showed", async () => {
    const stored = events(1, 1);
    const opened = open(stored, { after: 1 });
    const { journal } = opened;
    const get = journal.get;
    journal.get = async () => {
      stored.push(event(2)); // written between the read and this
      return get();
    };
    expect(await arrived(opened)).to.deep.equal([2]);
    expect(opened.reads).to.deep.equal(["read 1", "get", "read 1"]);
  });

  it("reads the end of a run that ended between the read and the look at its row", async () => {
    const stored = events(1, 1);
    const opened = open(stored, { after: 1 });
    const { journal } = opened;
    journal.get = async () => {
      stored.push(last(2));
      return { state: "done", head: 2 };
    };
    expect(await arrived(opened)).to.deep.equal([2]);
    expect(await arrived(opened)).to.equal("end");
  });

  it("takes what is handed over during a read once the page has been taken", async () => {
    const opened = open(events(1, 2));
    const { follower } = opened;
    const waiting = follower.arrival();
    follower.hand(events(3, 1));
    expect(polled(opened)).to.equal(undefined);
    await waiting;
    expect(polled(opened)).to.deep.equal([1, 2]);
    expect(polled(opened)).to.deep.equal([3]);
    // What overlaps the page is given once.
    const other = open(events(1, 3));
    const second = other.follower.arrival();
    other.follower.hand(events(2, 3));
    await second;
    expect([polled(other), polled(other)]).to.deep.equal([[1, 2, 3], [4]]);
    // What is ahead of the page is read.
    const third = open(events(1, 4), { page: 2 });
    const reading = third.follower.arrival();
    third.follower.hand(events(4, 1));
    await reading;
    expect([polled(third), polled(third)]).to.deep.equal([[1, 2], undefined]);
    expect(await arrived(third)).to.deep.equal([3, 4]);
  });

  it("ends after the terminal event and leaves, whether it was handed over or read", async () => {
    const handed = open([], { current: true });
    handed.follower.hand([event(1), last(2)]);
    expect(handed.left).to.deep.equal([]);
    expect(polled(handed)).to.deep.equal([1, 2]);
    expect(handed.left).to.deep.equal([handed.follower]);
    expect([polled(handed), polled(handed)]).to.deep.equal(["end", "end"]);
    expect(handed.follower.idle).to.equal(false);
    handed.follower.hand(events(3, 1));
    handed.follower.miss();
    expect(await arrived(handed)).to.equal("end");
    expect(handed.reads).to.deep.equal([]);

    const read = open([event(1), last(2)]);
    expect(await arrived(read)).to.deep.equal([1, 2]);
    expect(await arrived(read)).to.equal("end");
    expect(read.left).to.have.length(1);
  });

  it("at the end of a run that is done ends, and goes on where there is more", async () => {
    const opened = open([event(1), last(2)], { after: 2 });
    opened.row.state = "done";
    expect(await arrived(opened)).to.equal("end");
    expect(opened.left).to.have.length(1);
    const early = open([event(1), event(2), last(3)], { after: 1, page: 1 });
    early.row.state = "done";
    expect([await arrived(early), await arrived(early), await arrived(early)]).to.deep.equal([[2], [3], "end"]);
  });

  it("does not end while its run is parked or being worked on", async () => {
    for (const state of ["ready", "running", "waiting"]) {
      const opened = open([event(1)], { after: 1 });
      opened.row.state = state;
      let over = false;
      void opened.follower.arrival().then(() => {
        over = true;
      });
      await turn();
      expect(over, state).to.equal(false);
    }
  });

  it("fails with not_found for a run that does not exist, and leaves", async () => {
    const opened = open([]);
    opened.journal.get = async () => undefined as never;
    const failure = await opened.follower.next().catch((thrown) => thrown);
    expect(failure).to.be.instanceOf(VenturiError);
    expect(failure).to.include({ op: "journal.follow", code: "not_found" });
    expect(opened.left).to.have.length(1);
    expect(() => opened.follower.poll()).to.throw(VenturiError);
    await opened.follower.arrival();
    expect(opened.reads).to.deep.equal(["read 0"]);
  });

  it("asks a failing store again until its patience ends, then fails with journal_failed", async () => {
    const { follower, clock, journal, left } = open([]);
    let asked = 0;
    journal.read = async () => {
      asked += 1;
      throw new Error("disk on fire");
    };
    const failure = follower.next().catch((thrown) => thrown);
    await clock.advance(1_000);
    expect(asked).to.equal(5); // at 0, 50, 150, 350 and 750 ms
    await clock.advance(1_000);
    expect(await failure).to.include({ op: "journal.follow", code: "journal_failed", message: "disk on fire" });
    expect(left).to.have.length(1);
    expect(clock.pending).to.equal(0);
  });

  it("that is aborted ends at once, forgets the signal and stops asking a store that fails", async () => {
    const controller = new AbortController();
    const opened = open([], { signal: controller.signal });
    const { follower, clock, journal, left } = opened;
    journal.read = () => Promise.reject(new Error("down"));
    const waiting = arrived(opened);
    await turn();
    expect(clock.pending).to.equal(1);
    controller.abort();
    expect(await waiting).to.equal("end");
    await turn();
    expect(polled(opened)).to.equal("end");
    expect(clock.pending).to.equal(0);
    expect(left).to.deep.equal([follower]);
    expect(getEventListeners(controller.signal, "abort")).to.have.length(0);

    const aborted = open([], { signal: AbortSignal.abort() });
    expect([polled(aborted), aborted.left]).to.deep.equal(["end", [aborted.follower]]);
    await aborted.follower.arrival();
  });

  it("that is returned ends, and a page still under way is not given", async () => {
    const opened = open(events(1, 2));
    const waiting = opened.follower.arrival();
    expect(await opened.follower.return()).to.deep.equal({ value: undefined, done: true });
    await waiting;
    await turn();
    expect(polled(opened)).to.equal("end");
    expect(opened.left).to.have.length(1);
    await opened.follower.return();
    expect(opened.left).to.have.length(1);
  });

  it("that leaves normally listens to its signal no more", async () => {
    const controller = new AbortController();
    const opened = open([last(1)], { signal: controller.signal });
    expect(getEventListeners(controller.signal, "abort")).to.have.length(1);
    expect(await arrived(opened)).to.deep.equal([1]);
    expect(getEventListeners(controller.signal, "abort")).to.have.length(0);
  });

  it("notified that it missed something drops its queue and reads, at once if somebody waits", async () => {
    const opened = open(events(1, 3), { current: true });
    opened.follower.hand(events(1, 1));
    opened.follower.miss();
    expect(polled(opened)).to.equal(undefined);
    expect(opened.reads).to.deep.equal([]);
    expect(await arrived(opened)).to.deep.equal([1, 2, 3]);
    const waiting = arrived(opened);
    opened.follower.miss();
    await turn();
    expect(opened.reads).to.deep.equal(["read 0", "read 3", "get"]);
    opened.follower.hand(events(4, 1));
    expect(await waiting).to.deep.equal([4]);
  });
});
