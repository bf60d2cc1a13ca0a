import { strict as assert } from "node:assert";
import type { Append, Hint } from "../core/journal/journal.ts";
import { claimed, enqueueing, eventsAfter, finish, freshName, type JournalBench, put, text } from "./journal-bench.ts";

/** Reading, listing, hints and pruning. */
export function readCases(bench: JournalBench): void {
  describe("read", () => {
    it("gives exactly the events after a place, at most so many, however they were grouped", async () => {
      const journal = await bench.open();
      const { ownership } = await claimed(journal);
      for (const size of [1, 3, 1, 5, 2]) {
        await put(
          journal,
          ownership,
          Array.from({ length: size }, () => text("x")),
        );
      }
      const seqs = Array.from({ length: 12 }, (_, n) => n + 1);
      for (let after = 0; after <= 13; after++) {
        for (const limit of [1, 2, 4, 12, 100]) {
          const events = await journal.read(ownership.run, after, limit);
          assert.deepEqual(
            events.map((event) => event.seq),
            seqs.slice(after, after + limit),
          );
        }
      }
      assert.deepEqual(await journal.read("nobody", 0, 10), []);
    });

    it("finds any place of a long run that was written by turns with others, and settles a repeated append there", async () => {
      const journal = await bench.open();
      const { ownership } = await claimed(journal);
      const { ownership: other } = await claimed(journal);
      let early: Append | undefined;
      for (let n = 0; n < 130; n++) {
        const bodies = Array.from({ length: (n % 5) + 1 }, () => text(`${n}`));
        const item = { ownership: { ...ownership }, events: eventsAfter(ownership, bodies) };
        if (n === 40) early = item;
        await put(journal, ownership, bodies);
        await put(journal, other, bodies);
      }
      const seqs = Array.from({ length: 390 }, (_, n) => n + 1);
      for (let after = 0; after <= 391; after += 13) {
        for (const limit of [1, 63, 64, 65, 1000]) {
          const events = await journal.read(ownership.run, after, limit);
          assert.deepEqual(
            events.map((event) => event.seq),
            seqs.slice(after, after + limit),
          );
        }
      }
      assert.ok(early);
      assert.equal((await journal.append([early])).size, 0);
      const changed = early.events.map((event) => ({ ...event, at: 1 }));
      assert.equal((await journal.append([{ ...early, events: changed }])).size, 1);
      assert.equal((await journal.get(ownership.run))?.head, 390);
    });

    it("reads many runs at once, leaving out those with nothing new", async () => {
      const journal = await bench.open();
      const owners = [];
      for (let n = 0; n < 4; n++) {
        const { ownership } = await claimed(journal);
        owners.push(ownership);
        await put(
          journal,
          ownership,
          Array.from({ length: n }, () => text("x")),
        );
      }
      const cursors = [...owners.map(({ run }) => ({ run, after: 1 })), { run: "nobody", after: 0 }];
      const found = await journal.readMany(cursors, 1);
      const seen = owners.map(({ run }) => found.get(run)?.map((event) => event.seq));
      assert.deepEqual(seen, [undefined, undefined, [2], [2]]);
    });

    it("is the same from another replica the moment the append has resolved", async () => {
      const journal = await bench.open();
      const other = await bench.reopen();
      const { ownership } = await claimed(journal);
      for (let n = 1; n <= 20; n++) {
        await put(journal, ownership, [text("x")]);
        assert.equal((await other.read(ownership.run, 0, 100)).length, n);
      }
    });
  });

  describe("hints", () => {
    it("tell of events, signals and work, here and on another replica", async () => {
      const journal = await bench.open();
      for (const listener of [journal, await bench.reopen()]) {
        const { ownership } = await claimed(journal);
        const event = hinted(listener, (hint) => hint.events(ownership.run));
        await listener.read(ownership.run, 0, 1); // As readers do: hints refer to what comes after.
        await put(journal, ownership, [text("x")]);
        await event;
        const signal = hinted(listener, (hint) => hint.signals?.(ownership.run) ?? false);
        await journal.signal(ownership.run, { id: freshName("signal"), kind: "message", body: {} });
        await signal;
        const work = hinted(listener, (hint) => hint.work);
        await journal.enqueue(enqueueing());
        await work;
      }
    });

    it("stop when taken back", async () => {
      const journal = await bench.open();
      let hints = 0;
      const stop = journal.onHint(() => void hints++);
      stop();
      await journal.enqueue(enqueueing());
      assert.equal(hints, 0);
    });
  });

  describe("list", () => {
    it("pages through runs newest or oldest first, each once", async () => {
      const journal = await bench.open();
      const runs: string[] = [];
      for (let n = 0; n < 7; n++) runs.push((await journal.enqueue(enqueueing())).run);
      for (const oldestFirst of [true, false]) {
        const seen: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await journal.list({ limit: 3, oldestFirst, ...(cursor === undefined ? {} : { cursor }) });
          assert.ok(page.runs.length <= 3);
          seen.push(...page.runs.map((row) => row.run));
          cursor = page.cursor;
        } while (cursor !== undefined);
        assert.deepEqual(seen, oldestFirst ? runs : runs.toReversed());
      }
    });

    it("does not fail on a cursor that it never gave, but may refuse it", async () => {
      const journal = await bench.open();
      const asked = ["x", "1_2", "9".repeat(30)].map(async (cursor) => await journal.list({ cursor }));
      await Promise.all(asked.map((each) => each.catch(({ code }) => assert.equal(code, "invalid_input"))));
    });

    it("filters by agent, session, state and outcome", async () => {
      const journal = await bench.open();
      const session = freshName("session");
      const { ownership } = await claimed(journal, { session });
      const { run: waiting } = await journal.enqueue(enqueueing({ session, request: { agent: "b", input: {} } }));
      await finish(journal, ownership);
      const names = async (query: Parameters<typeof journal.list>[0]) =>
        (await journal.list(query)).runs.map((row) => row.run);
      assert.deepEqual(await names({ agent: "b" }), [waiting]);
      assert.deepEqual(await names({ session, oldestFirst: true }), [ownership.run, waiting]);
      assert.deepEqual(await names({ state: "done" }), [ownership.run]);
      assert.deepEqual(await names({ outcome: "finished" }), [ownership.run]);
      assert.deepEqual(await names({ outcome: "failed" }), []);
      assert.deepEqual(await names({ session: "nobody" }), []);
    });

    it("tells when a run came and when it last moved", async () => {
      const journal = await bench.open();
      const { ownership } = await claimed(journal);
      await put(journal, ownership, [text("a")]);
      const row = await journal.get(ownership.run);
      assert.ok(row && row.createdAt <= row.updatedAt && Math.abs(row.updatedAt - Date.now()) < 60_000);
      assert.equal(await journal.get("nobody"), undefined);
    });
  });

  describe("prune", () => {
    it("removes ended runs beyond the newest, with all that is theirs, and never one that has not ended", async () => {
      const journal = await bench.open();
      const { ownership: open } = await claimed(journal);
      const ended: string[] = [];
      for (let n = 0; n < 5; n++) {
        const { ownership } = await claimed(journal, { key: `key-${n}` });
        await journal.signal(ownership.run, { id: "m", kind: "message", body: {} });
        await finish(journal, ownership);
        ended.push(ownership.run);
      }
      assert.equal(await journal.prune({ keep: 2 }), 3);
      assert.equal(await journal.prune({ keep: 2 }), 0);
      const left = (await journal.list({ oldestFirst: true })).runs.map((row) => row.run);
      assert.deepEqual(left, [open.run, ...ended.slice(3)]);
      assert.deepEqual(await journal.read(ended[0] ?? "", 0, 10), []);
      assert.deepEqual(await journal.signals(ended[0] ?? "", 0), []);
    });

    it("answers a repeated enqueue with the run that was removed, and starts none", async () => {
      const journal = await bench.open();
      const other = await bench.reopen();
      const tenant = freshName("tenant");
      const [pruned, named] = [freshName("key"), freshName("key")];
      const runs = new Map<string, string>();
      for (const key of [pruned, named]) {
        const { ownership } = await claimed(journal, { tenant, key });
        await finish(journal, ownership);
        runs.set(key, ownership.run);
        assert.equal(await journal.prune(key === named ? { runs: [ownership.run] } : { keep: 0 }), 1);
      }
      for (const [key, run] of runs) {
        assert.deepEqual(await other.enqueue(enqueueing({ tenant, key, claimFor: "w" })), { run, existing: true });
        assert.equal(await other.get(run), undefined);
      }
      // Another tenant's key, or another key, is not affected.
      assert.equal((await other.enqueue(enqueueing({ tenant: `${tenant}2`, key: named }))).existing, false);
      assert.equal((await other.enqueue(enqueueing({ tenant, key: freshName("key") }))).existing, false);
      assert.equal((await other.list({ tenant })).runs.length, 1);
    });

    it("makes no second run of a key while its run is being removed", async () => {
      const journal = await bench.open();
      const other = await bench.reopen();
      for (let n = 0; n < 5; n++) {
        const key = freshName("key");
        const { ownership } = await claimed(journal, { key });
        await finish(journal, ownership);
        const answers = await Promise.all([
          journal.prune({ runs: [ownership.run] }),
          ...Array.from({ length: 4 }, (_, each) => (each % 2 ? journal : other).enqueue(enqueueing({ key }))),
        ]);
        assert.deepEqual(answers.slice(1), Array(4).fill({ run: ownership.run, existing: true }));
      }
    });

    it("removes nothing once its signal has aborted", async () => {
      const journal = await bench.open();
      const { ownership } = await claimed(journal);
      await finish(journal, ownership);
      assert.equal(await journal.prune({ keep: 0, rest: 3, signal: AbortSignal.abort() }), 0);
      assert.equal((await journal.list({})).runs.length, 1);
      assert.equal(await journal.prune({ keep: 0, rest: 3, signal: new AbortController().signal }), 1);
    });

    it("removes the ended runs that are named, and no other", async () => {
      const journal = await bench.open();
      const { ownership: open } = await claimed(journal);
      const ended: string[] = [];
      for (let n = 0; n < 3; n++) {
        const { ownership } = await claimed(journal);
        await finish(journal, ownership);
        ended.push(ownership.run);
      }
      assert.equal(await journal.prune({ runs: [ended[1] ?? "", open.run, "run-unknown"] }), 1);
      const left = (await journal.list({ oldestFirst: true })).runs.map((row) => row.run);
      assert.deepEqual(left, [open.run, ended[0], ended[2]]);
    });

    it("removes ended runs that are older than asked", async () => {
      const journal = await bench.open();
      const { ownership } = await claimed(journal);
      await finish(journal, ownership);
      await claimed(journal);
      assert.equal(await journal.prune({ olderThan: 60_000 }), 0);
      let removed = 0;
      while (removed === 0) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        removed = await journal.prune({ olderThan: 5 });
      }
      assert.equal(removed, 1);
      assert.equal((await journal.list({})).runs.length, 1);
    });
  });

  describe("wire", () => {
    it("keeps raw bytes with a run, where the journal can", async () => {
      const journal = await bench.open();
      if (!journal.keepWire || !journal.wire) return;
      const { ownership } = await claimed(journal);
      const bytes = new Uint8Array([0, 1, 2, 255, 10, 13]);
      await journal.keepWire(ownership.run, { round: 1, attempt: 1, wire: "openai", bytes });
      await journal.keepWire(ownership.run, { round: 2, attempt: 1, wire: "openai", bytes: new Uint8Array() });
      await journal.keepWire(ownership.run, { round: 3, attempt: 1, wire: "openai", bytes: bytes.slice(0, 2) });
      await journal.keepWire(ownership.run, { round: 3, attempt: 2, wire: "openai", bytes });
      await journal.keepWire(ownership.run, { round: 3, attempt: 1, wire: "openai", bytes: bytes.slice(2) });
      const kept = await journal.wire(ownership.run);
      assert.deepEqual(
        kept.map((wire) => [wire.round, wire.attempt, wire.wire, [...wire.bytes]]),
        [
          [1, 1, "openai", [...bytes]],
          [2, 1, "openai", []],
          [3, 1, "openai", [...bytes]],
          [3, 2, "openai", [...bytes]],
        ],
      );
    });
  });
}

/** Resolves at the first matching hint. */
function hinted(
  journal: { onHint(callback: (hint: Hint) => void): () => void },
  fits: (hint: Hint) => boolean,
): Promise<void> {
  return new Promise((resolve) => {
    const stop = journal.onHint((hint) => {
      if (!fits(hint)) return;
      stop();
      resolve();
    });
  });
}
