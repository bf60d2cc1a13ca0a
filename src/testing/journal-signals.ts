import { strict as assert } from "node:assert";
import { claimed, claimWhenFree, enqueueing, finish, type JournalBench, put, text, withTime } from "./journal-bench.ts";

/** Signals and parking. */
export function signalCases(bench: JournalBench): void {
  describe("signals", () => {
    it("are numbered from 1 in the order they came, and each id counts once", async () => {
      const journal = await bench.open();
      const { run } = await journal.enqueue(enqueueing());
      assert.equal(await journal.signal(run, { id: "a", kind: "message", body: { text: "one" } }), true);
      assert.equal(await journal.signal(run, { id: "b", kind: "approve", body: { call: "c", approved: true } }), true);
      assert.equal(await journal.signal(run, { id: "a", kind: "message", body: { text: "again" } }), false);
      assert.equal(await journal.signal(run, { id: "c", kind: "cancel", body: {} }), true);
      const signals = await journal.signals(run, 0);
      assert.deepEqual(signals, [
        { number: 1, id: "a", kind: "message", body: { text: "one" } },
        { number: 2, id: "b", kind: "approve", body: { call: "c", approved: true } },
        { number: 3, id: "c", kind: "cancel", body: {} },
      ]);
      assert.deepEqual(await journal.signals(run, 2), signals.slice(2));
      assert.equal((await journal.claim("w", 1))[0]?.signals, 3);
    });

    it("sent twice at the same time from two replicas count once, and leave no hole in the numbers", async () => {
      const journal = await bench.open();
      const other = await bench.reopen();
      const { run } = await journal.enqueue(enqueueing());
      const ids = Array.from({ length: 10 }, (_, n) => `s${n}`);
      const stored = await Promise.all(
        ids.flatMap((id) => [
          journal.signal(run, { id, kind: "message", body: {} }),
          other.signal(run, { id, kind: "message", body: {} }),
        ]),
      );
      assert.equal(stored.filter(Boolean).length, 10);
      const numbers = (await journal.signals(run, 0)).map((signal) => signal.number);
      assert.deepEqual(numbers, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    });

    it("are refused after the end, and not_found for a run nobody knows", async () => {
      const journal = await bench.open();
      const { ownership } = await claimed(journal);
      await finish(journal, ownership);
      assert.equal(await journal.signal(ownership.run, { id: "a", kind: "cancel", body: {} }), false);
      await assert.rejects(journal.signal("nobody", { id: "a", kind: "cancel", body: {} }), { code: "not_found" });
    });

    it("of many runs are read in one go", async () => {
      const journal = await bench.open();
      const runs: string[] = [];
      for (let n = 0; n < 3; n++) runs.push((await journal.enqueue(enqueueing())).run);
      await journal.signal(runs[0] ?? "", { id: "a", kind: "message", body: {} });
      await journal.signal(runs[0] ?? "", { id: "b", kind: "message", body: {} });
      await journal.signal(runs[2] ?? "", { id: "a", kind: "cancel", body: {} });
      const found = await journal.signalsMany(runs.map((run, n) => ({ run, after: n === 0 ? 1 : 0 })));
      assert.deepEqual(
        [...found].map(([run, signals]) => [run, signals.map((signal) => signal.id)]).sort(),
        [
          [runs[0], ["b"]],
          [runs[2], ["a"]],
        ].sort(),
      );
    });
  });

  describe("parking", () => {
    it("keeps the run from being claimed until a signal comes", async () => {
      const journal = await bench.open(100);
      const { ownership } = await claimed(journal);
      await put(journal, ownership, [text("a")], { state: "waiting", seenSignals: 0 });
      assert.equal((await journal.get(ownership.run))?.state, "waiting");
      await new Promise((resolve) => setTimeout(resolve, 150));
      assert.deepEqual(await journal.claim("w", 10), []);
      await journal.signal(ownership.run, { id: "a", kind: "approve", body: {} });
      const claim = await claimWhenFree(journal, "w");
      assert.deepEqual([claim.ownership.run, claim.ownership.head, claim.signals], [ownership.run, 1, 1]);
    });

    it("with fewer signals seen than have come leaves the run ready, with its events", async () => {
      const journal = await bench.open();
      const { ownership } = await claimed(journal);
      await journal.signal(ownership.run, { id: "a", kind: "message", body: {} });
      assert.equal(await put(journal, ownership, [text("a")], { state: "waiting", seenSignals: 0 }), true);
      const claim = await claimWhenFree(journal, "w");
      assert.deepEqual([claim.ownership.run, claim.ownership.head], [ownership.run, 1]);
    });

    it("never loses a signal that comes at the same moment", async () => {
      const journal = await bench.open();
      const other = await bench.reopen();
      for (let round = 0; round < 20; round++) {
        const { ownership } = await claimed(journal);
        await Promise.all([
          put(journal, ownership, [text("a")], { state: "waiting", seenSignals: 0 }),
          other.signal(ownership.run, { id: "a", kind: "approve", body: {} }),
        ]);
        const claim = await claimWhenFree(journal, "w");
        assert.equal(claim.ownership.run, ownership.run);
        await finish(journal, claim.ownership);
      }
    });

    it("for a time ends with it: the run is claimed though no signal came, and not before", () =>
      withTime(100, async (wakeAfter) => {
        const journal = await bench.open();
        const { ownership } = await claimed(journal);
        const { ownership: longer } = await claimed(journal);
        const since = Date.now();
        await put(journal, ownership, [text("a")], { state: "waiting", seenSignals: 0, wakeAfter });
        await put(journal, longer, [text("a")], { state: "waiting", seenSignals: 0, wakeAfter: 3_600_000 });
        assert.deepEqual(await journal.claim("w", 10), []);
        const claim = await claimWhenFree(journal, "w");
        assert.ok(Date.now() - since >= wakeAfter - 10);
        assert.deepEqual([claim.ownership.run, claim.ownership.head, claim.ownership.epoch], [ownership.run, 1, 2]);
        // The second park sets no wake-up time: the first one's must not survive.
        await put(journal, claim.ownership, [], { state: "waiting", seenSignals: 0 });
        await new Promise((resolve) => setTimeout(resolve, wakeAfter + 50));
        assert.deepEqual(await journal.claim("w", 10), []);
        await journal.signal(longer.run, { id: "a", kind: "approve", body: {} });
        assert.equal((await claimWhenFree(journal, "w")).ownership.run, longer.run);
      }));

    it("ends the ownership: it cannot write on", async () => {
      const journal = await bench.open();
      const { ownership } = await claimed(journal);
      await put(journal, ownership, [], { state: "waiting", seenSignals: 0 });
      assert.equal(await put(journal, ownership, [text("x")]), false);
    });

    it("repeated after a lost answer is done", async () => {
      const journal = await bench.open();
      const { ownership } = await claimed(journal);
      const park = { ownership, events: [], state: "waiting" as const, seenSignals: 0 };
      assert.equal((await journal.append([park])).size, 0);
      assert.equal((await journal.append([park])).size, 0);
    });
  });
}
