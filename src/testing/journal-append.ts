import { strict as assert } from "node:assert";
import { claimed, claimWhenFree, end, eventsAfter, finish, type JournalBench, put, text } from "./journal-bench.ts";

/** Appending: the fence, its atomicity, and what a lost answer leaves. */
export function appendCases(bench: JournalBench): void {
  describe("append", () => {
    it("keeps events as they were, in order", async () => {
      const journal = await bench.open();
      const { attempt } = await claimed(journal);
      const odd = ["a", "\u0000", "line\nbreak", "\u2028", "😀", "\ud800", '"quoted"', ""];
      const events = eventsAfter(attempt, odd.map(text));
      await journal.append([{ attempt, events }]);
      assert.deepEqual(await journal.read(attempt.run, 0, 100), events);
    });

    it("takes many runs in one go and moves each on by itself", async () => {
      const journal = await bench.open();
      const attempts = [];
      for (let n = 0; n < 20; n++) attempts.push((await claimed(journal)).attempt);
      const batch = attempts.map((attempt, n) => ({
        attempt,
        events: eventsAfter(
          attempt,
          Array.from({ length: n + 1 }, () => text(`${n}`)),
        ),
      }));
      assert.equal((await journal.append(batch)).size, 0);
      for (const [n, attempt] of attempts.entries()) {
        assert.equal((await journal.read(attempt.run, 0, 100)).length, n + 1);
        assert.equal((await journal.get(attempt.run))?.head, n + 1);
      }
    });

    it("fences an attempt whose run was claimed anew, although the head is the same", async () => {
      const journal = await bench.open();
      const { attempt } = await claimed(journal);
      await put(journal, attempt, [text("a")]);
      await journal.release(attempt);
      await claimWhenFree(journal, "worker-2");
      assert.equal(await put(journal, attempt, [text("zombie")]), false);
      assert.equal((await journal.read(attempt.run, 0, 10)).length, 1);
    });

    it("fences an attempt that re-reads the head and tries to go on from there", async () => {
      const journal = await bench.open();
      const { attempt } = await claimed(journal);
      await put(journal, attempt, [text("a")]);
      await journal.release(attempt);
      const next = await claimWhenFree(journal, "worker-2");
      await put(journal, next.attempt, [text("b")]);
      const row = await journal.get(attempt.run);
      assert.equal(await put(journal, { ...attempt, head: row?.head ?? 0 }, [text("zombie")]), false);
      assert.equal((await journal.read(attempt.run, 0, 10)).length, 2);
    });

    it("fences one attempt of a batch and takes the others", async () => {
      const journal = await bench.open();
      const { attempt: lost } = await claimed(journal);
      const { attempt: kept } = await claimed(journal);
      await journal.release(lost);
      await claimWhenFree(journal, "worker-2");
      const batch = [lost, kept].map((attempt) => ({ attempt, events: eventsAfter(attempt, [text("x")]) }));
      assert.deepEqual([...(await journal.append(batch))], [lost]);
      assert.equal((await journal.read(lost.run, 0, 10)).length, 0);
      assert.equal((await journal.read(kept.run, 0, 10)).length, 1);
    });

    it("fences events that do not continue the head", async () => {
      const journal = await bench.open();
      const { attempt } = await claimed(journal);
      await put(journal, attempt, [text("a"), text("b")]);
      for (const head of [0, 1, 3]) assert.equal(await put(journal, { ...attempt, head }, [text("x")]), false);
      assert.equal(await put(journal, attempt, [text("c")]), true);
    });

    it("settles a repeated append as done when it is there, and as fenced when another stands in its place", async () => {
      const journal = await bench.open();
      const { attempt } = await claimed(journal);
      const item = { attempt, events: eventsAfter(attempt, [text("a"), text("b")]) };
      assert.equal((await journal.append([item])).size, 0);
      assert.equal((await journal.append([item])).size, 0);
      const other = { attempt, events: eventsAfter(attempt, [text("a"), text("not b")]) };
      assert.deepEqual([...(await journal.append([other]))], [attempt]);
      assert.equal((await journal.read(attempt.run, 0, 10)).length, 2);
    });

    it("settles a repeated append as done even after others have taken the run over", async () => {
      const journal = await bench.open();
      const { attempt } = await claimed(journal);
      const item = { attempt, events: eventsAfter(attempt, [text("a")]) };
      await journal.append([item]);
      await journal.release(attempt);
      const next = await claimWhenFree(journal, "worker-2");
      await put(journal, next.attempt, [text("b")]);
      assert.equal((await journal.append([item])).size, 0);
      assert.equal((await journal.read(attempt.run, 0, 10)).length, 2);
    });

    it("a repeated terminal append is done, and nothing goes in after it", async () => {
      const journal = await bench.open();
      const { attempt } = await claimed(journal);
      const item = { attempt, events: eventsAfter(attempt, [end]), state: "done" as const };
      await journal.append([item]);
      assert.equal((await journal.append([item])).size, 0);
      attempt.head = 1;
      assert.equal(await put(journal, attempt, [text("after the end")]), false);
      const row = await journal.get(attempt.run);
      assert.deepEqual([row?.state, row?.outcome, row?.head], ["done", "finished", 1]);
    });

    it("of two attempts that race, the older never gets an event in after the newer's claim", async () => {
      const journal = await bench.open();
      const other = await bench.reopen();
      for (let round = 0; round < 10; round++) {
        const { attempt } = await claimed(journal);
        const writing = (async () => {
          while (await put(journal, attempt, [text(`${attempt.epoch}`)]));
        })();
        await journal.release(attempt);
        const next = await claimWhenFree(other, "worker-2");
        const before = next.attempt.head;
        while (next.attempt.head < before + 5) assert.equal(await put(other, next.attempt, [text("2")]), true);
        await writing;
        const epochs = (await other.read(attempt.run, 0, 10_000)).map((event) => ("text" in event ? event.text : ""));
        assert.deepEqual(epochs, [...Array<string>(before).fill("1"), ...Array<string>(5).fill("2")]);
        await finish(other, next.attempt);
      }
    });
  });
}
