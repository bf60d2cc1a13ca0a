import { expect } from "chai";
import { systemClock } from "../../src/core/ports/clock.ts";
import { Committer } from "../../src/journal/committer.ts";
import { claimed, delta, GatedJournal } from "./setup.ts";

describe("commits", () => {
  it("take all small writes and one large one, by turns between tenants", async () => {
    const journal = new GatedJournal({ clock: systemClock, keep: 100, lease: 10_000 });
    const committer = new Committer({ journal });
    const open = async (tenant: string) => committer.openLog((await claimed(journal)).ownership, tenant);
    const gate = Promise.withResolvers<void>();
    journal.gate = gate.promise;
    const first = await open("x");
    first.write(delta("first"));
    const large = [await open("loud"), await open("loud"), await open("loud"), await open("quiet")];
    const small = [await open("quiet"), await open("loud")];
    const flushed = [first.flush()];
    await new Promise((resolve) => setImmediate(resolve)); // the first commit is in flight
    for (const log of large) log.write(delta("y".repeat(400_000)));
    for (const log of small) log.write(delta("z"));
    flushed.push(...[...large, ...small].map((log) => log.flush()));
    gate.resolve();
    await Promise.all(flushed);
    const names = new Map([...large.entries()].map(([index, log]) => [log.ownership.run, `large ${index}`]));
    for (const [index, log] of small.entries()) names.set(log.ownership.run, `small ${index}`);
    const batches = journal.batches
      .slice(1)
      .map((batch) => batch.flatMap(({ ownership }) => names.get(ownership.run) ?? []));
    expect(batches).to.deep.equal([["large 0", "small 0", "small 1"], ["large 3"], ["large 1"], ["large 2"]]);
  });
});
