import { expect } from "chai";
import type { FeedItem, FeedQuery } from "../../../src/core/run/feed.ts";
import { FeedReader } from "../../../src/host/runs/feed-reader.ts";
import { VirtualClock } from "../../../src/testing/clock.ts";

const started = (run: string) =>
  ({ type: "run.started", run, agent: "a", at: 0, input: "" }) as FeedItem & { run: string };
const reader = (query: Partial<FeedQuery> = {}) => new FeedReader(query as FeedQuery, new VirtualClock());

/** What is in its queue now. */
async function queued(of: FeedReader): Promise<string[]> {
  const { value } = await of.items().next();
  return (value ?? []).map((item: FeedItem) => ("run" in item ? item.run : item.type));
}

describe("a reader of the feed", () => {
  it("knows of its tenant and agents alone", () => {
    const rows: readonly (readonly [Partial<FeedQuery>, boolean, boolean, boolean])[] = [
      [{}, true, true, true],
      [{ tenant: "t" }, true, false, true],
      [{ agent: "a" }, true, true, false],
      [{ agents: ["a"] }, true, true, false],
      [{ agents: [] }, false, false, false],
      [{ tenant: "t", agents: ["b"] }, false, false, true],
    ];
    for (const [query, own, other, another] of rows) {
      const one = reader(query);
      const told = [one.mayKnow("t", "a"), one.mayKnow("u", "a"), one.mayKnow("t", "b")];
      expect(told, JSON.stringify(query)).to.deep.equal([own, other, another]);
      expect(one.wants("t", started("r"))).to.equal(own);
      expect(one.wants("t", { type: "tick", at: 0, runs: [] } as FeedItem)).to.equal(false);
    }
  });

  it("hears once that a run begins, though it was told of while it was queued", async () => {
    const one = reader();
    one.takeEarly(started("r"));
    one.take(started("r"));
    one.take(started("s"));
    expect(await queued(one)).to.deep.equal(["r", "s"]);
    one.take(started("r"));
    expect(await queued(one)).to.deep.equal(["r"]);
  });

  it("remembers ten thousand queued runs, the newest", async () => {
    const one = reader();
    for (let index = 0; index <= 10_000; index++) {
      one.takeEarly(started(`r${index}`));
      if (index % 500 === 0) await queued(one);
    }
    for (const run of ["r0", "r9999", "r10000"]) one.take(started(run));
    expect(await queued(one)).to.deep.equal(["r0"]);
  });

  it("that does not read loses items and is told so", async () => {
    const one = reader();
    for (let index = 0; index < 1_001; index++) one.take(started(`r${index}`));
    expect(await queued(one)).to.deep.equal(["feed.gap", "r1000"]);
  });
});
