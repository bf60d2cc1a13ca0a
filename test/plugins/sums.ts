import { expect } from "chai";
import type { Journal } from "../../src/core/journal/journal.ts";
import type { ListQuery } from "../../src/core/run/list-query.ts";
import { noTiming } from "../../src/core/run/timing.ts";
import { groupings } from "../../src/core/run/totals.ts";
import { recount, totals } from "../../src/testing/journal-totals.ts";

/** Ended runs as the release before the sums stored them. */
export interface OldRun {
  readonly n: number;
  readonly tenant: string;
  readonly agent: string;
  readonly caller: string | null;
  readonly outcome: string;
  readonly code: string | null;
  readonly ms: number;
  readonly cost: number | null;
  readonly at: number;
  readonly models: string;
  readonly request: string;
  readonly digest: string;
}

const kinds = [
  { outcome: "finished", code: null },
  { outcome: "failed", code: "llm_error" },
  { outcome: "cancelled", code: "stream_interrupted" },
] as const;

export const oldRuns = (count: number, from: number): OldRun[] =>
  Array.from({ length: count }, (_, index) => {
    const n = index + 1;
    const { outcome, code } = kinds[n % 3] ?? kinds[0];
    const caller = n % 4 === 0 ? null : `key-${n % 2}`;
    const agent = `agent-${n % 3}`;
    const models = n % 5 === 0 ? ["m/a", "m/b"] : ["m/a"];
    const cost = n % 7 === 0 ? null : n / 3_000;
    const ms = n * n + (n % 2 === 0 ? 0.5 : 0);
    const usage = n % 6 === 0 ? {} : { inputTokens: n, outputTokens: 2 * n };
    const at = from + n * n * 400_000;
    // Stopped runs were failed ones, when there was no other word.
    const status = outcome === "finished" ? "finished" : "failed";
    const digest = {
      ...{ run: `old-${n}`, agent, status, startedAt: at, endedAt: at + ms, ms, timing: noTiming, usage },
      ...{ rounds: 1, calls: 0, tools: [], models, input: "", output: "" },
      ...(code === null ? {} : { code }),
      ...(cost === null ? {} : { cost }),
      ...(caller === null ? {} : { by: caller }),
    };
    const request = JSON.stringify({ agent, input: {}, ...(caller === null ? {} : { caller: { id: caller } }) });
    return {
      ...{ n, tenant: `tenant-${n % 2}`, agent, caller, outcome, code, ms, cost, at, request },
      ...{ models: JSON.stringify(models), digest: JSON.stringify(digest) },
    };
  });

export async function expectSums(journal: Journal, runs: number, from: number): Promise<void> {
  const queries: ListQuery[] = [
    {},
    { tenant: "tenant-1" },
    { outcome: "cancelled" },
    { outcome: "failed", since: from + 1_000_000_007, until: from + 3_000_000_001 },
    { model: "m/b", since: from + 50_000_003 },
    { by: "key-1", agent: "agent-2" },
  ];
  for (const query of queries)
    for (const by of groupings)
      expect(await totals(journal, query, by)).to.deep.equal(await recount(journal, query, by));
  expect((await journal.totals?.({}))?.all.runs).to.equal(runs);
}
