import { expect } from "chai";
import { MemoryJournal } from "../../../plugins/memory/journal.ts";
import type { Claim } from "../../../src/core/journal/journal.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { DigestFold } from "../../../src/core/run/digest.ts";
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
