import { expect } from "chai";
import { prune } from "../../../plugins/sqlite/prune.ts";
import type { Asked } from "../../../plugins/sqlite/store-thread.ts";
import { silentLog } from "../../../src/core/ports/log.ts";

/** Another process takes over what is begun here, twice, so that each sweep ends with nothing done. */
function robbed() {
  const begun: number[] = [];
  const answers: Record<string, (...args: never[]) => unknown> = {
    doomSome: () => 0,
    beginSweep: (sweeper: number) => (begun.push(sweeper) > 2 ? undefined : { sweeper, after: 0, upTo: undefined }),
    sweepSome: () => undefined,
    forgetLog: () => true,
  };
  const thread = { ask: async (name: string, ...args: never[]) => answers[name]?.(...args) } as unknown as Asked;
  return { thread, begun };
}

describe("a sweep that another process takes over", () => {
  const pruner = () => ({ sweeper: 5, erasing: new Set<number>(), log: silentLog });

  it("is taken back by an erasure until nothing is left", async () => {
    const { thread, begun } = robbed();
    await prune(thread, { runs: ["run_a"] }, pruner());
    expect(begun).to.deep.equal([-5, -5, -5]);
  });

  it("is left to the other process by retention, which would start over", async () => {
    const { thread, begun } = robbed();
    begun.push(0); // The erasures of others: one takeover, then none.
    await prune(thread, { olderThan: 0 }, pruner());
    expect(begun.slice(1)).to.deep.equal([-5, -5, 5]);
  });
});
