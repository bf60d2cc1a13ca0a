import { expect } from "chai";
import { MemoryJournal } from "../../../plugins/memory/journal.ts";
import type { Claim } from "../../../src/core/journal/journal.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { DigestFold } from "../../../src/core/run/digest.ts";
import type { RunEvent } from "../../../src/core/run/events.ts";
import type { FeedItem, FeedQuery } from "../../../src/core/run/feed.ts";
import { Feed } from "../../../src/host/runs/feed.ts";
import { Followers } from "../../../src/journal/followers.ts";
import { VirtualClock } from "../../../src/testing/clock.ts";

describe("a tick of the feed", () => {
  const clock = new VirtualClock();
  const journal = new MemoryJournal({ clock, keep: 10, lease: 10_000 });
  const feed = new Feed({ journal, followers: new Followers({ journal, clock }), clock, log: silentLog });
  const ended: (() => void)[] = [];
  const claimOf = (run: string, tenant: string, agent: string): Claim => ({
    ownership: { run, session: undefined, epoch: 1, worker: "w", head: 0 },
    tenant,
    request: { agent, input: { text: "hi" } },
    signals: 0,
  });
  before(() => {
    for (const claim of [
      claimOf("run_a1", "ada", "helper"),
      claimOf("run_a2", "ada", "buyer"),
      claimOf("run_b1", "bob", "helper"),
      claimOf("run_b2", "bob", "buyer"),
    ]) {
      ended.push(feed.began(claim, new DigestFold(claim.ownership.run, claim.request)));
    }
  });
  after(async () => {
    for (const end of ended) end();
    await journal.close();
  });

  /** The runs that a reader of this query hears of in its next tick; undefined when it gets none. */
  async function ticked(query: FeedQuery): Promise<string[] | undefined> {
    const left = new AbortController();
    const items: FeedItem[] = [];
    const reading = (async () => {
      for await (const batch of feed.watch({ ...query, signal: left.signal })) items.push(...batch);
    })();
    await clock.advance(1_000);
    left.abort();
    await reading;
    const tick = items.find((item) => item.type === "tick");
    return tick?.runs.map(({ run }) => run);
  }

  const cases: [string, FeedQuery, string[] | undefined][] = [
    ["an operator's has all runs", {}, ["run_a1", "run_a2", "run_b1", "run_b2"]],
    ["a tenant's has those of the tenant", { tenant: "ada" }, ["run_a1", "run_a2"]],
    ["of a key for some agents has theirs", { tenant: "bob", agents: ["helper"] }, ["run_b1"]],
    ["of one agent has those of the agent", { tenant: "ada", agent: "buyer" }, ["run_a2"]],
    ["of a key for no agent is not sent", { tenant: "ada", agents: [] }, undefined],
    ["of a tenant without runs is not sent", { tenant: "eve" }, undefined],
  ];
  for (const [fact, query, runs] of cases) {
    it(fact, async () => {
      expect(await ticked(query)).to.deep.equal(runs);
    });
  }
});

describe("a reader of the feed that comes while a run is queued", () => {
  const request = { agent: "helper", input: { text: "hi" } };

  /** Two readers: one from the beginning, one from when the first has heard of the queued run. */
  async function setUp() {
    const clock = new VirtualClock();
    const journal = new MemoryJournal({ clock, keep: 10, lease: 10_000 });
    const feed = new Feed({ journal, followers: new Followers({ journal, clock }), clock, log: silentLog });
    const left = new AbortController();
    const readings: Promise<void>[] = [];
    const watch = () => {
      const told: string[] = [];
      const read = async () => {
        for await (const batch of feed.watch({ signal: left.signal }))
          for (const { type } of batch) if (type !== "tick") told.push(type);
      };
      readings.push(read());
      return told;
    };
    const first = watch();
    await clock.advance(1_000);
    await journal.enqueue({ run: "run_1", tenant: "t", session: undefined, request });
    await clock.advance(1_000);
    expect(first).to.deep.equal(["feed.opened", "run.started"]);
    const second = watch();
    await clock.advance(1_000);
    const begin = async () => {
      const [claim] = await journal.claim("w", 1);
      if (claim === undefined) throw new Error("not claimed");
      return claim;
    };
    const store = ({ ownership }: Claim) => {
      const started = { type: "run.started", agent: "helper", input: { text: "hi" }, run: "run_1", seq: 1, at: 1 };
      return journal.append([{ ownership, events: [started as RunEvent] }]);
    };
    const close = async () => {
      left.abort();
      await Promise.all(readings);
      await journal.close();
    };
    return { clock, feed, first, second, begin, store, close };
  }

  it("is told of its start in this process, and one that knew of it is not told again", async () => {
    const { clock, feed, first, second, begin, store, close } = await setUp();
    const claim = await begin();
    const over = feed.began(claim, new DigestFold("run_1", request));
    await store(claim);
    await clock.advance(2_000);
    over();
    await close();
    expect(second).to.deep.equal(["feed.opened", "run.started"]);
    expect(first).to.deep.equal(["feed.opened", "run.started"]);
  });

  it("is told of its start in another process, and one that knew of it is not told again", async () => {
    const { clock, first, second, begin, store, close } = await setUp();
    await store(await begin());
    await clock.advance(2_000);
    await close();
    expect(second).to.deep.equal(["feed.opened", "run.started"]);
    expect(first).to.deep.equal(["feed.opened", "run.started"]);
  });
});

describe("what a tick of the feed says of a run", () => {
  it("is the same to each reader that comes, and a tool runs until the last of two has finished", async () => {
    const clock = new VirtualClock();
    const journal = new MemoryJournal({ clock, keep: 10, lease: 10_000 });
    const feed = new Feed({ journal, followers: new Followers({ journal, clock }), clock, log: silentLog });
    const request = { agent: "helper", input: { text: "hi" } };
    await journal.enqueue({ run: "run_1", tenant: "t", session: undefined, request });
    const [claim] = await journal.claim("w", 1);
    if (claim === undefined) throw new Error("not claimed");
    const over = feed.began(claim, new DigestFold("run_1", request));
    const bodies = [
      { type: "run.started", agent: "helper", input: { text: "hi" } },
      { type: "round.started", round: 1, model: "m", attempt: 1 },
      { type: "text.delta", round: 1, text: "so" },
      { type: "text.delta", round: 1, text: "on" },
      { type: "generation.finished", round: 1, attempt: 1, finish: "tool_calls", usage: {} },
      { type: "tool.started", round: 1, call: "c1", name: "a", attempt: 1, idempotencyKey: "1" },
      { type: "tool.started", round: 1, call: "c2", name: "b", attempt: 1, idempotencyKey: "2" },
      { type: "tool.finished", round: 1, call: "c1", name: "a", ok: true, ms: 1 },
    ];
    const events = bodies.map((body, index) => ({ ...body, run: "run_1", seq: index + 1, at: 1 + index }) as RunEvent);
    await journal.append([{ ownership: claim.ownership, events }]);
    for (const reader of ["the first reader", "the next one"]) {
      const left = new AbortController();
      const items: FeedItem[] = [];
      const reading = (async () => {
        for await (const batch of feed.watch({ signal: left.signal })) items.push(...batch);
      })();
      await clock.advance(3_000);
      left.abort();
      await reading;
      const ticks = items.filter((item) => item.type === "tick");
      expect(ticks.at(-1)?.runs, reader).to.deep.equal([{ run: "run_1", tokens: 2, part: "tool" }]);
    }
    over();
    await journal.close();
  });
});
