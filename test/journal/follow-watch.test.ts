import { expect } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Hint, Journal } from "../../src/core/journal/journal.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { Followers } from "../../src/journal/followers.ts";
import { refuseNewer } from "../../src/journal/known-events.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { collect, delta, finished, seqs } from "./setup.ts";

const event = (run: string, seq: number): RunEvent => ({ ...delta("x"), run, seq, at: seq }) as RunEvent;
const last = (run: string, seq: number): RunEvent => ({ ...finished(), run, seq, at: seq }) as RunEvent;
const owned = (run: string, head = 0) => ({ run, session: undefined, epoch: 1, worker: "w", head });
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Readers of runs that another process writes into `store`. */
function bench(page = 10) {
  const store = new Map<string, RunEvent[]>();
  const asked: string[] = [];
  const hints = new Set<(hint: Hint) => void>();
  let failure: unknown;
  const after = (run: string, seq: number, limit: number) => (store.get(run) ?? []).slice(seq, seq + limit);
  const journal = {
    read: async (run: string, seq: number, limit: number) => {
      asked.push(`read ${run} ${seq}`);
      return after(run, seq, limit);
    },
    readMany: async (cursors: readonly { run: string; after: number }[], limit: number) => {
      asked.push(`many ${cursors.map((cursor) => `${cursor.run} ${cursor.after}`).join(", ")}`);
      if (failure) throw failure;
      return new Map(cursors.map((cursor) => [cursor.run, after(cursor.run, cursor.after, limit)]));
    },
    get: async (run: string) => ({ run, state: "running", head: store.get(run)?.length ?? 0 }),
    onHint: (callback: (hint: Hint) => void) => {
      hints.add(callback);
      return () => hints.delete(callback);
    },
  };
  const clock = new VirtualClock();
  const followers = new Followers({ journal: journal as unknown as Journal, clock, page });
  const write = (run: string, ...events: RunEvent[]) => store.set(run, [...(store.get(run) ?? []), ...events]);
  const hint = (run: string) => {
    for (const callback of hints) callback({ work: false, events: (other) => other === run });
  };
  const fail = (thrown: unknown) => {
    failure = thrown;
  };
  return { followers, clock, asked, hints, write, hint, fail };
}

/** Reads on and keeps what came. */
function reading(followers: Followers, run: string, after = 0) {
  const seen: number[] = [];
  const follower = followers.follow(run, { after });
  const done = (async () => {
    for await (const batch of follower) seen.push(...seqs(batch));
  })();
  return { seen, follower, done };
}

describe("readers of runs of other processes", () => {
  it("listen for hints and poll only while there is one, and count", async () => {
    const { followers, clock, hints } = bench();
    expect([followers.size, hints.size, clock.pending]).to.deep.equal([0, 0, 0]);
    const [one, two] = [followers.follow("a"), followers.follow("a")];
    const three = followers.follow("b");
    expect([followers.size, hints.size, clock.pending]).to.deep.equal([3, 1, 1]);
    await one.return();
    await three.return();
    expect([followers.size, hints.size, clock.pending]).to.deep.equal([1, 1, 1]);
    await two.return();
    expect([followers.size, hints.size, clock.pending]).to.deep.equal([0, 0, 0]);
    await followers.follow("a").return();
    expect(hints.size).to.equal(0);
  });

  it("that start aborted are not counted and cost nothing", () => {
    const { followers, hints } = bench();
    followers.follow("a", { signal: AbortSignal.abort() });
    expect([followers.size, hints.size]).to.deep.equal([0, 0]);
  });

  it("of a run of this process neither listen nor poll, and start without a read at its head", async () => {
    const { followers, clock, hints, asked } = bench();
    const ownership = owned("a", 3);
    followers.opened(ownership);
    const { follower, seen } = reading(followers, "a", 3);
    const behind = reading(followers, "a", 2);
    await turn();
    expect([hints.size, clock.pending]).to.deep.equal([0, 0]);
    expect(asked).to.deep.equal(["read a 2"]);
    follower.hand([event("a", 4)]);
    await turn();
    expect(seen).to.deep.equal([4]);
    await Promise.all([follower.return(), behind.follower.return()]);
    expect(followers.size).to.equal(0);
  });

  it("that have a run's last event ask for nothing when it ends here; one that lacks it reads on", async () => {
    const { followers, hints, asked, write } = bench();
    const ownership = owned("a", 3);
    followers.opened(ownership);
    const { follower, done } = reading(followers, "a", 3);
    await turn();
    follower.hand([event("a", 4), last("a", 5)]);
    followers.closed(ownership);
    expect([hints.size, followers.size]).to.deep.equal([0, 1]);
    await done;
    expect([asked, followers.size]).to.deep.equal([[], 0]);

    const again = owned("b");
    followers.opened(again);
    write("b", event("b", 1), last("b", 2));
    const [quick, late] = [reading(followers, "b"), reading(followers, "b")];
    quick.follower.hand([event("b", 1), last("b", 2)]);
    followers.closed(again);
    expect(hints.size).to.equal(1);
    await Promise.all([quick.done, late.done]);
    expect([quick.seen, late.seen]).to.deep.equal([
      [1, 2],
      [1, 2],
    ]);
    expect([hints.size, followers.size]).to.deep.equal([0, 0]);
  });

  it("read on a hint about their run, all concerned ones at once, from the one furthest behind", async () => {
    const { followers, asked, write, hint } = bench();
    write("a", event("a", 1), event("a", 2));
    const early = reading(followers, "a");
    const late = reading(followers, "a", 1);
    const other = reading(followers, "b");
    await turn();
    asked.length = 0;
    write("a", event("a", 3));
    hint("c");
    await turn();
    expect(asked).to.deep.equal([]);
    hint("a");
    await turn();
    expect(asked).to.deep.equal(["many a 2"]);
    expect([early.seen, late.seen, other.seen]).to.deep.equal([[1, 2, 3], [2, 3], []]);
    for (const each of [early, late, other]) await each.follower.return();
  });

  it("poll all of them every second, in one read", async () => {
    const { followers, clock, asked, write } = bench();
    const [one, two] = [reading(followers, "a"), reading(followers, "b")];
    await turn();
    asked.length = 0;
    write("b", event("b", 1));
    await clock.advance(999);
    expect(asked).to.deep.equal([]);
    await clock.advance(1);
    expect(asked).to.deep.equal(["many a 0, b 0"]);
    expect([one.seen, two.seen]).to.deep.equal([[], [1]]);
    await clock.advance(1_000);
    expect(asked[1]).to.equal("many a 0, b 1");
    for (const each of [one, two]) await each.follower.return();
  });

  it("read on at once after a full page, until the run's end", async () => {
    const { followers, asked, write, hint } = bench(2);
    const reader = reading(followers, "a");
    await turn();
    asked.length = 0;
    write("a", event("a", 1), event("a", 2), event("a", 3), event("a", 4), last("a", 5));
    hint("a");
    await reader.done;
    expect(reader.seen).to.deep.equal([1, 2, 3, 4, 5]);
    expect(asked).to.deep.equal(["many a 0", "many a 2", "many a 4"]);
    expect(followers.size).to.equal(0);
  });

  it("have one read in flight; a hint meanwhile is not lost", async () => {
    const { followers, asked, write, hint } = bench();
    const reader = reading(followers, "a");
    await turn();
    asked.length = 0;
    write("a", event("a", 1));
    hint("a");
    hint("a");
    write("a", event("a", 2));
    expect(asked).to.deep.equal(["many a 0"]);
    await turn();
    expect(reader.seen).to.deep.equal([1, 2]);
    expect(asked.length).to.be.at.most(2);
    await reader.follower.return();
  });

  it("wait for the next poll while the engine is down, and read alone when a run is damaged", async () => {
    const { followers, clock, asked, write, fail } = bench();
    const reader = reading(followers, "a");
    await turn();
    asked.length = 0;
    write("a", event("a", 1));
    fail(new VenturiError("journal.read", "journal_failed", "down"));
    await clock.advance(1_000);
    expect([asked, reader.seen]).to.deep.equal([["many a 0"], []]);
    fail(new VenturiError("journal.read", "record_invalid", "damaged"));
    await clock.advance(1_000);
    expect(asked).to.deep.equal(["many a 0", "many a 0", "read a 0"]);
    expect(reader.seen).to.deep.equal([1]);
    await reader.follower.return();
  });

  it("are handed over when this process takes the run, and back when it lets it go", async () => {
    const { followers, clock, asked, hints, write } = bench();
    write("a", event("a", 1));
    const reader = reading(followers, "a");
    await turn();
    // Another process wrote 2 before this one claimed the run.
    write("a", event("a", 2));
    asked.length = 0;
    const ownership = owned("a", 2);
    const readers = [...followers.opened(ownership)];
    expect([hints.size, clock.pending]).to.deep.equal([0, 0]);
    await turn();
    expect(asked).to.deep.equal(["read a 1"]);
    for (const each of readers) each.hand([event("a", 3)]);
    await turn();
    expect(reader.seen).to.deep.equal([1, 2, 3]);
    followers.closed(owned("a", 2)); // not the one that is open
    expect(hints.size).to.equal(0);
    write("a", event("a", 3), last("a", 4));
    followers.closed(ownership);
    expect(hints.size).to.equal(1);
    await reader.done;
    expect(reader.seen).to.deep.equal([1, 2, 3, 4]);
    expect([followers.size, hints.size]).to.deep.equal([0, 0]);
  });

  it("of a removed run are forgotten with it", async () => {
    const { followers, hints } = bench();
    const ownership = owned("a");
    followers.opened(ownership);
    const reader = followers.follow("a");
    await reader.return();
    followers.closed(ownership);
    expect([followers.size, hints.size]).to.deep.equal([0, 0]);
  });

  it("all end when the process does", async () => {
    const { followers, clock, hints } = bench();
    const readers = [reading(followers, "a"), reading(followers, "a"), reading(followers, "b")];
    followers.close();
    await Promise.all(readers.map(({ done }) => done));
    expect([followers.size, hints.size, clock.pending]).to.deep.equal([0, 0, 0]);
  });

  it("read what is there and end with it", async () => {
    const { followers, write } = bench();
    write("a", event("a", 1), last("a", 2));
    expect(seqs(await collect(followers.follow("a")))).to.deep.equal([1, 2]);
  });
});

describe("events of a newer version", () => {
  it("are refused by their type and place, known ones are not", () => {
    refuseNewer("r", [event("r", 1), last("r", 2)]);
    const newer = { type: "thought.folded", run: "r", seq: 2, at: 1 } as unknown as RunEvent;
    expect(() => refuseNewer("r", [event("r", 1), newer]))
      .to.throw(VenturiError, /^event 2 of r is "thought.folded"/)
      .that.deep.includes({
        op: "journal.history",
        code: "unavailable",
        details: { run: "r", seq: 2, type: "thought.folded" },
      });
  });
});
