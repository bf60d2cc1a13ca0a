import { strict as assert } from "node:assert";
import { claimed, claimWhenFree, end, eventsAfter, finish, type JournalBench, put, text } from "./journal-bench.ts";

const asked = (call: string) => ({ type: "approval.requested" as const, round: 1, call, name: "pay", arguments: {} });
const answered = (call: string) => ({ type: "approval.resolved" as const, round: 1, call, approved: true });

/** Appending: the fence, its atomicity, and retries after a lost response. */
export function appendCases(bench: JournalBench): void {
  describe("append", () => {
    it("keeps events as they were, in order", async () => {
      const journal = await bench.open();
      const { ownership } = await claimed(journal);
      const odd = ["a", "\u0000", "line\nbreak", "\u2028", "😀", "\ud800", '"quoted"', ""];
      const events = eventsAfter(ownership, odd.map(text));
      await journal.append([{ ownership, events }]);
      assert.deepEqual(await journal.read(ownership.run, 0, 100), events);
    });

    it("counts the questions of a run that are open, and lists the runs that wait for an answer", async () => {
      const journal = await bench.open();
      const { ownership } = await claimed(journal);
      const other = await claimed(journal);
      await put(journal, other.ownership, [text("busy")]);
      await put(journal, ownership, [asked("a"), asked("b"), answered("a")]);
      assert.equal((await journal.get(ownership.run))?.asking, 1);
      assert.equal((await journal.get(other.ownership.run))?.asking, 0);
      const waiting = async (given: boolean) =>
        (await journal.list({ waiting: given, limit: 200 })).runs.map(({ run }) => run);
      assert.deepEqual(await waiting(true), [ownership.run]);
      assert.ok((await waiting(false)).includes(other.ownership.run));
      assert.ok(!(await waiting(false)).includes(ownership.run));
      await put(journal, ownership, [answered("b")]);
      assert.deepEqual(await waiting(true), []);
      await put(journal, ownership, [asked("c"), end], { state: "done" });
      assert.deepEqual(await waiting(true), []);
    });

    it("takes many runs in one go and moves each on by itself", async () => {
      const journal = await bench.open();
      const owners = [];
      for (let n = 0; n < 20; n++) owners.push((await claimed(journal)).ownership);
      const batch = owners.map((ownership, n) => ({
        ownership,
        events: eventsAfter(
          ownership,
          Array.from({ length: n + 1 }, () => text(`${n}`)),
        ),
      }));
      assert.equal((await journal.append(batch)).size, 0);
      for (const [n, ownership] of owners.entries()) {
        assert.equal((await journal.read(ownership.run, 0, 100)).length, n + 1);
        assert.equal((await journal.get(ownership.run))?.head, n + 1);
      }
    });

    it("fences an ownership whose run was claimed again, although the head is the same", async () => {
      const journal = await bench.open();
      const { ownership } = await claimed(journal);
      await put(journal, ownership, [text("a")]);
      await journal.release(ownership);
      await claimWhenFree(journal, "worker-2");
      assert.equal(await put(journal, ownership, [text("zombie")]), false);
      assert.equal((await journal.read(ownership.run, 0, 10)).length, 1);
    });

    it("fences an ownership that re-reads the head and tries to go on from there", async () => {
      const journal = await bench.open();
      const { ownership } = await claimed(journal);
      await put(journal, ownership, [text("a")]);
      await journal.release(ownership);
      const next = await claimWhenFree(journal, "worker-2");
      await put(journal, next.ownership, [text("b")]);
      const row = await journal.get(ownership.run);
      assert.equal(await put(journal, { ...ownership, head: row?.head ?? 0 }, [text("zombie")]), false);
      assert.equal((await journal.read(ownership.run, 0, 10)).length, 2);
    });

    it("fences one ownership of a batch and takes the others", async () => {
      const journal = await bench.open();
      const { ownership: lost } = await claimed(journal);
      const { ownership: kept } = await claimed(journal);
      await journal.release(lost);
      await claimWhenFree(journal, "worker-2");
      const batch = [lost, kept].map((ownership) => ({ ownership, events: eventsAfter(ownership, [text("x")]) }));
      assert.deepEqual([...(await journal.append(batch))], [lost]);
      assert.equal((await journal.read(lost.run, 0, 10)).length, 0);
      assert.equal((await journal.read(kept.run, 0, 10)).length, 1);
    });

    it("fences events that do not continue the head", async () => {
      const journal = await bench.open();
      const { ownership } = await claimed(journal);
      await put(journal, ownership, [text("a"), text("b")]);
      for (const head of [0, 1, 3]) assert.equal(await put(journal, { ...ownership, head }, [text("x")]), false);
      assert.equal(await put(journal, ownership, [text("c")]), true);
    });

    it("settles a repeated append as done when it is there, and as fenced when another stands in its place", async () => {
      const journal = await bench.open();
      const { ownership } = await claimed(journal);
      const item = { ownership, events: eventsAfter(ownership, [text("a"), text("b")]) };
      assert.equal((await journal.append([item])).size, 0);
      assert.equal((await journal.append([item])).size, 0);
      const other = { ownership, events: eventsAfter(ownership, [text("a"), text("not b")]) };
      assert.deepEqual([...(await journal.append([other]))], [ownership]);
      assert.equal((await journal.read(ownership.run, 0, 10)).length, 2);
    });

    it("fences the very events that stand there when another epoch wrote them", async () => {
      const journal = await bench.open();
      const { ownership } = await claimed(journal);
      const events = eventsAfter(ownership, [text("a"), text("b")]);
      await journal.release(ownership);
      const next = await claimWhenFree(journal, "worker-2");
      assert.equal((await journal.append([{ ownership: next.ownership, events }])).size, 0);
      // Identical to the owner's append: a worker that takes it for its own lost response would believe that it still owns the run.
      assert.deepEqual([...(await journal.append([{ ownership, events }]))], [ownership]);
      assert.equal((await journal.read(ownership.run, 0, 10)).length, 2);
    });

    it("settles a repeated append as done even after others have taken the run over", async () => {
      const journal = await bench.open();
      const { ownership } = await claimed(journal);
      const item = { ownership, events: eventsAfter(ownership, [text("a")]) };
      await journal.append([item]);
      await journal.release(ownership);
      const next = await claimWhenFree(journal, "worker-2");
      await put(journal, next.ownership, [text("b")]);
      assert.equal((await journal.append([item])).size, 0);
      assert.equal((await journal.read(ownership.run, 0, 10)).length, 2);
    });

    it("a repeated terminal append is done, and nothing goes in after it", async () => {
      const journal = await bench.open();
      const { ownership } = await claimed(journal);
      const item = { ownership, events: eventsAfter(ownership, [end]), state: "done" as const };
      await journal.append([item]);
      assert.equal((await journal.append([item])).size, 0);
      ownership.head = 1;
      assert.equal(await put(journal, ownership, [text("after the end")]), false);
      const row = await journal.get(ownership.run);
      assert.deepEqual([row?.state, row?.outcome, row?.head], ["done", "finished", 1]);
    });

    it("of two owners that race, the older never gets an event in after the newer's claim", async () => {
      const journal = await bench.open();
      const other = await bench.reopen();
      for (let round = 0; round < 10; round++) {
        const { ownership } = await claimed(journal);
        const writing = (async () => {
          while (await put(journal, ownership, [text(`${ownership.epoch}`)]));
        })();
        await journal.release(ownership);
        const next = await claimWhenFree(other, "worker-2");
        const before = next.ownership.head;
        while (next.ownership.head < before + 5) assert.equal(await put(other, next.ownership, [text("2")]), true);
        await writing;
        const epochs = (await other.read(ownership.run, 0, 10_000)).map((event) => ("text" in event ? event.text : ""));
        assert.deepEqual(epochs, [...Array<string>(before).fill("1"), ...Array<string>(5).fill("2")]);
        await finish(other, next.ownership);
      }
    });
  });
}
