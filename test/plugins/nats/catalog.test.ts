import { expect } from "chai";
import { Catalog, cursorOf } from "../../../plugins/nats/catalog.ts";
import type { Known } from "../../../plugins/nats/known.ts";
import { standingText } from "../../../plugins/nats/standing.ts";
import { type Seen, View } from "../../../plugins/nats/view.ts";

const shards = 3;
const base = {
  agent: "a",
  epoch: 1,
  head: 1,
  state: "done",
  signals: 0,
  cancelled: false,
  worker: "w",
  asking: 0,
  wake: 0,
  time: 0,
} as const;

/** Sequences and times as three streams give them: both grow within a shard. */
function knownAt(n: number): Known {
  const shard = n % shards;
  const place = Math.floor(n / shards) * 2 + 1;
  const outcome = n % 7 === 0 ? "failed" : "finished";
  const names = { run: `r${n}`, tenant: `t${n % 5}`, session: n % 2 === 0 ? `s${n % 11}` : undefined };
  return { ...base, ...names, shard, place, created: n, seq: place + 1, outcome };
}

const namesOf = (runs: Iterable<Known>) => Array.from(runs, ({ run }) => run);

describe("nats: the catalog of runs", () => {
  const all = Array.from({ length: 600 }, (_, n) => knownAt(n));

  it("has runs in order however they came", () => {
    const catalog = new Catalog(shards);
    for (const known of all.toSorted((left, right) => (left.created % 13) - (right.created % 13))) catalog.set(known);
    expect(namesOf(catalog.walk({ oldestFirst: true }))).to.deep.equal(namesOf(all));
    expect(namesOf(catalog.walk({ oldestFirst: false }))).to.deep.equal(namesOf(all.toReversed()));
  });

  it("takes blocks of older runs before those it has", () => {
    const catalog = new Catalog(shards);
    for (const known of all.slice(500)) catalog.set(known);
    for (const [from, to] of [
      [0, 200],
      [200, 500],
    ] as const)
      for (let shard = 0; shard < shards; shard++)
        catalog.insert(all.slice(from, to).filter((known) => known.shard === shard));
    expect(namesOf(catalog.walk({ oldestFirst: true }))).to.deep.equal(namesOf(all));
  });

  it("finds by tenant, session and outcome, page by page", () => {
    const catalog = new Catalog(shards);
    for (const known of all) catalog.set(known);
    const where = { tenant: "t2", session: "s3", outcome: "finished" } as const;
    for (const oldestFirst of [true, false]) {
      const seen: string[] = [];
      for (let cursor: string | undefined; ; ) {
        const [next] = catalog.walk({ oldestFirst, cursor, ...where });
        if (!next) break;
        seen.push(next.run);
        cursor = cursorOf(next);
      }
      const wanted = all.filter((each) => each.tenant === "t2" && each.session === "s3" && each.outcome === "finished");
      expect(seen).to.deep.equal(namesOf(oldestFirst ? wanted : wanted.toReversed()));
    }
  });

  it("goes on where it was, oldest first too, when runs before it are removed", () => {
    const many = Array.from({ length: 9_000 }, (_, n) => knownAt(n));
    const catalog = new Catalog(shards);
    for (const known of many) catalog.set(known);
    const seen: string[] = [];
    for (const known of catalog.walk({ oldestFirst: true })) {
      seen.push(known.run);
      if (known.created === 6_000) for (const { run } of many.slice(0, 6_500)) catalog.delete(run);
    }
    expect(seen).to.deep.equal(namesOf([...many.slice(0, 6_001), ...many.slice(6_500)]));
  });

  it("goes on where it was when runs are removed and added meanwhile", () => {
    const many = Array.from({ length: 9_000 }, (_, n) => knownAt(n));
    const catalog = new Catalog(shards);
    for (const known of many) catalog.set(known);
    const seen: string[] = [];
    for (const known of catalog.walk({ oldestFirst: false })) {
      seen.push(known.run);
      if (known.created === 6_000) for (const { run } of many.slice(3_000, 8_000)) catalog.delete(run);
      if (known.created === 2_500) catalog.set(knownAt(9_500));
    }
    expect(seen).to.deep.equal(namesOf([...many.slice(0, 3_000), ...many.slice(6_000)].toReversed()));
    expect(catalog.get("r4000")).to.equal(undefined);
  });
});

describe("nats: the view of runs", () => {
  const standing = (state: "ready" | "running" | "done") =>
    standingText({ ...base, state, outcome: undefined, worker: state === "ready" ? "" : "w" });
  const origin = encodeURIComponent(JSON.stringify({ agent: "a", tenant: "t" }));
  const seen = (rest: Partial<Seen>): Seen => ({
    run: "r",
    shard: 0,
    kind: "x",
    seq: 2,
    time: 2,
    standing: standing("done"),
    ...rest,
  });
  const request = seen({ kind: "q", seq: 1, time: 1, standing: standing("ready"), origin });

  it("a change that comes before its run's request counts when that has come", () => {
    const view = new View(1, () => {});
    view.apply(seen({ seq: 3 }));
    view.apply(seen({ seq: 2, standing: standing("running") }));
    expect(view.get("r")).to.equal(undefined);
    view.apply(request);
    expect(view.get("r")).to.include({ state: "done", seq: 3, place: 1, created: 1 });
    expect([...view.open()]).to.deep.equal([]);
  });

  it("the engine's time counts, whether it comes before or after this process's own record of the change", () => {
    for (const order of [1, -1]) {
      const view = new View(1, () => {});
      const [own, delivered] = [
        { ...request, time: 1.5 },
        { ...request, delivered: true as const },
      ];
      for (const each of order === 1 ? [own, delivered] : [delivered, own]) view.apply(each);
      expect(view.get("r")).to.include({ created: 1, time: 1 });
    }
  });

  it("a signal that comes after a later change is still announced, and changes nothing", () => {
    const told: string[] = [];
    const view = new View(1, (_, kind) => told.push(kind));
    view.apply(request);
    view.apply(seen({ seq: 3, standing: standing("running") }));
    view.apply(seen({ kind: "s", seq: 2, standing: standing("ready") }));
    expect(told).to.deep.equal(["q", "x", "s"]);
    expect(view.get("r")).to.include({ state: "running", seq: 3 });
  });
});
