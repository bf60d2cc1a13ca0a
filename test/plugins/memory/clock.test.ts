import { expect } from "chai";
import { MemoryJournal } from "../../../plugins/memory/journal.ts";
import { keyMemory } from "../../../src/core/journal/journal.ts";
import { systemClock } from "../../../src/core/ports/clock.ts";
import { claimed, enqueueing, finish, put, text } from "../../../src/testing/journal-bench.ts";

describe("the key of a removed run", () => {
  it("is free after a day, also that of a run beyond `keep`", async () => {
    let now = 1_000;
    const journal = new MemoryJournal({ clock: { ...systemClock, now: () => now }, keep: 1, lease: 10_000 });
    const start = (key: string) => journal.enqueue(enqueueing({ key }));
    for (const key of ["dropped", "kept"]) await finish(journal, (await claimed(journal, { key })).ownership);
    now += keyMemory;
    expect([(await start("dropped")).existing, (await start("kept")).existing]).to.deep.equal([true, true]);
    now += 1;
    expect([(await start("dropped")).existing, (await start("kept")).existing]).to.deep.equal([false, true]);
  });
});

describe("a clock that jumps", () => {
  for (const hours of [-1, 1]) {
    it(`by ${hours} h costs a takeover at most: no lease lasts for ever, no zombie writes`, async () => {
      let jump = 0;
      const clock = { ...systemClock, now: () => Date.now() + jump };
      const journal = new MemoryJournal({ clock, keep: 10, lease: 10_000 });
      const { ownership } = await claimed(journal);
      await put(journal, ownership, [text("a")]);
      jump = hours * 3_600_000;
      // The worker that beats keeps its runs …
      await journal.heartbeat("worker-1");
      expect(await journal.claim("worker-2", 10)).to.deep.equal([]);
      // … and one that does not loses them, although its last sign may lie in the future.
      jump += hours * 3_600_000;
      const [next] = await journal.claim("worker-2", 10);
      expect(next?.ownership).to.include({ run: ownership.run, epoch: 2, head: 1 });
      expect(await put(journal, ownership, [text("zombie")])).to.equal(false);
    });
  }
});
