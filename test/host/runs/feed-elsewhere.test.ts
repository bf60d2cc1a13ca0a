import { expect } from "chai";
import { MemoryJournal } from "../../../plugins/memory/journal.ts";
import { VenturiError } from "../../../src/core/errors/errors.ts";
import type { EventBody, RunEvent } from "../../../src/core/run/events.ts";
import { ElsewhereWatch } from "../../../src/host/runs/feed-elsewhere.ts";
import { VirtualClock } from "../../../src/testing/clock.ts";

describe("the feed's watch of other processes", () => {
  const request = { agent: "a", input: { text: "hi" } };
  const bodies: EventBody[] = [
    { type: "run.started", agent: "a", input: { text: "hi" } },
    { type: "approval.requested", round: 1, call: "c", name: "pay", arguments: {} },
  ];
  const events = bodies.map((body, at) => ({ ...body, run: "run_1", seq: at + 1, at: 1 }) as RunEvent);

  async function setUp() {
    const journal = new MemoryJournal({ clock: new VirtualClock(), keep: 10, lease: 10_000 });
    const told: string[] = [];
    const tell = (_: string, { type }: { readonly type: string }) => told.push(type);
    const watch = new ElsewhereWatch(journal, { isHere: () => false, tell, foretell: tell });
    const { read } = journal;
    let failures = 0;
    journal.read = (...given) => {
      if (failures-- <= 0) return read.apply(journal, given);
      return Promise.reject(new VenturiError("journal.read", "journal_failed", "planted"));
    };
    const fail = (times: number) => {
      failures = times;
    };
    const start = async () => {
      const { claim } = await journal.enqueue({
        run: "run_1",
        tenant: "t",
        session: undefined,
        request,
        claimFor: "w",
      });
      if (claim === undefined) throw new Error("not claimed");
      await journal.append([{ ownership: claim.ownership, events }]);
      claim.ownership.head = events.length;
      return claim;
    };
    return { watch, told, fail, start, journal };
  }

  it("finds what is new again when the journal failed on the way, and tells each thing once", async () => {
    const { watch, told, fail, start } = await setUp();
    await watch.begin();
    await start();
    fail(1);
    await watch.look();
    expect(told).to.deep.equal(["run.started"]);
    await watch.look();
    await watch.look();
    expect(told).to.deep.equal(["run.started", "approval.requested"]);
  });

  it("leaves what it has not told to a process that takes the run up, and only that", async () => {
    const { watch, start } = await setUp();
    await watch.begin();
    const claim = await start();
    expect(watch.toldUpTo(claim.ownership)).to.equal(0);
    await watch.look();
    expect(watch.toldUpTo(claim.ownership)).to.equal(2);
    expect(events.map((event) => watch.isNews(claim, event))).to.deep.equal([false, false]);
    const ended = { ...events[0], type: "run.failed", seq: 3 } as RunEvent;
    expect([watch.isNews(claim, ended), watch.isNews(claim, ended)]).to.deep.equal([true, false]);
  });

  it("tells that a question is answered, when nothing else is asked any more", async () => {
    const { watch, told, start, journal } = await setUp();
    await watch.begin();
    const claim = await start();
    await watch.look();
    const answer = {
      type: "approval.resolved",
      round: 1,
      call: "c",
      approved: true,
      run: "run_1",
      seq: 3,
      at: 2,
    } as RunEvent;
    await journal.append([{ ownership: claim.ownership, events: [answer] }]);
    await watch.look();
    await watch.look();
    expect(told).to.deep.equal(["run.started", "approval.requested", "approval.resolved"]);
  });

  it("looks at a hundred of the newest, the running and the waiting runs", async () => {
    const { watch, journal } = await setUp();
    await watch.begin();
    const asked: unknown[] = [];
    const { list } = journal;
    journal.list = (query) => {
      asked.push(query);
      return list.call(journal, query);
    };
    await watch.look();
    expect(asked).to.deep.equal([{ limit: 100 }, { state: "running", limit: 100 }, { waiting: true, limit: 100 }]);
  });

  it("tells nobody anything once it has ended", async () => {
    const { watch, told, start } = await setUp();
    await watch.begin();
    await start();
    const looking = watch.look();
    watch.end();
    await looking;
    expect(told).to.deep.equal([]);
  });
});
