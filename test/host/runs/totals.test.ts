import { expect } from "chai";
import type { Journal } from "../../../src/core/journal/journal.ts";
import type { RunsQuery } from "../../../src/core/run/list-query.ts";
import type { RunRow } from "../../../src/core/run/run-row.ts";
import { type Totals, TotalsFold } from "../../../src/core/run/totals.ts";
import { totalsOf, usageOf } from "../../../src/host/runs/totals.ts";

const row = (ms: number): RunRow =>
  ({ agent: "a", tenant: "t", createdAt: ms, outcome: "completed", digest: { usage: {}, ms, models: [] } }) as never;

/** A journal with sums of so many runs, and pages of its list. */
function journalOf({ summed, pages, size }: { summed?: number; pages: number; size: number }) {
  const asked: RunsQuery[] = [];
  const fold = new TotalsFold(undefined);
  for (let run = 0; run < (summed ?? 0); run++) fold.add(row(1));
  const journal = {
    keepDigest: async () => {},
    ...(summed === undefined ? {} : { totals: async (): Promise<Totals> => fold.totals() }),
    list: async (query: RunsQuery) => {
      asked.push(query);
      const runs = Array.from({ length: size }, () => row(2));
      return asked.length < pages ? { runs, cursor: `c${asked.length}` } : { runs };
    },
  } as unknown as Journal;
  return { journal, asked };
}
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "",
    (thrown: { op: string; code: string }) => `${thrown.op} ${thrown.code}`,
  );

describe("totals over runs", () => {
  it("of more than 200 are the journal's sums; fewer are read one by one, and none are none", async () => {
    for (const [summed, read] of [
      [0, false],
      [1, true],
      [200, true],
      [201, false],
    ] as const) {
      const { journal, asked } = journalOf({ summed, pages: 1, size: 7 });
      const { all, counted } = await totalsOf(journal, { agent: "a" }, "agent");
      expect([all.runs, counted, asked.length], String(summed)).to.deep.equal([read ? 7 : summed, "all", read ? 1 : 0]);
    }
  });

  it("by words are those of the runs found: ended ones, page by page, whatever page of the list was asked for", async () => {
    const { journal, asked } = journalOf({ summed: 1000, pages: 3, size: 2 });
    const query = { text: "lisbon", cursor: "c9", limit: 5, sort: "longest" } as const;
    const { all, counted, groups } = await totalsOf(journal, query, "agent");
    expect([all.runs, counted, groups.map(({ name, runs }) => [name, runs])]).to.deep.equal([6, "all", [["a", 6]]]);
    const page = { text: "lisbon", state: "done", limit: 200, mayLag: true };
    expect(asked).to.deep.equal([page, { ...page, cursor: "c1" }, { ...page, cursor: "c2" }]);
  });

  it("stop after 5,000 runs or 100 pages, and then say that they are of the newest", async () => {
    for (const [size, pages, read] of [
      [200, 25, 25],
      [200, 26, 25],
      [0, 100, 100],
      [0, 101, 100],
    ] as const) {
      const { journal, asked } = journalOf({ pages, size });
      const { all, counted } = await totalsOf(journal, {}, undefined);
      expect([asked.length, all.runs, counted]).to.deep.equal([read, size * read, read < pages ? "newest" : "all"]);
    }
  });

  it("need a journal that keeps digests, and sums of usage one that keeps those", async () => {
    expect(await codeOf(totalsOf({} as Journal, {}, undefined))).to.match(/ invalid_input$/);
    expect(await codeOf(usageOf({} as Journal, {} as never))).to.equal("usage.report invalid_input");
    const usage = async () => [{ runs: 3 }];
    expect(await usageOf({ usage } as never, {} as never)).to.deep.equal([{ runs: 3 }]);
  });
});
