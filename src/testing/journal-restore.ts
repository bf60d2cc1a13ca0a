import { strict as assert } from "node:assert";
import type { Recording } from "../core/journal/journal.ts";
import {
  claimed,
  claimWhenFree,
  end,
  eventsAfter,
  freshName,
  type JournalBench,
  put,
  request,
  text,
} from "./journal-bench.ts";

/** Restoring recorded runs. */
export function restoreCases(bench: JournalBench): void {
  describe("restore", () => {
    it("an open run that waits for an answer is listed among those that wait", async () => {
      const journal = await bench.open(50);
      const asked = { type: "approval.requested" as const, round: 1, call: "a", name: "pay", arguments: {} };
      const recording = recordingOf([text("a"), asked]);
      await journal.restore(recording);
      assert.equal((await journal.get(recording.run))?.asking, 1);
      const { runs } = await journal.list({ waiting: true, limit: 200 });
      assert.ok(runs.some(({ run }) => run === recording.run));
    });

    it("an open run that is ready is claimed, with its events and signals, under a new epoch", async () => {
      const journal = await bench.open();
      const recording = { ...recordingOf([text("a"), text("b")]), state: "ready" as const };
      await journal.restore(recording);
      const claim = await claimWhenFree(journal, "w");
      assert.equal(claim.ownership.run, recording.run);
      assert.deepEqual([claim.ownership.head, claim.signals, claim.tenant], [2, 1, recording.tenant]);
      assert.ok(claim.ownership.epoch > 1);
      assert.deepEqual(await journal.read(recording.run, 0, 10), recording.events);
      assert.equal(await put(journal, claim.ownership, [end], { state: "done" }), true);
    });

    it("imports an ended run completely, for everyone to read and nobody to claim", async () => {
      const journal = await bench.open(50);
      const recording = recordingOf([text("a"), text("b"), end]);
      await journal.restore(recording);
      const other = await bench.reopen(50);
      assert.deepEqual(await other.read(recording.run, 0, 10), recording.events);
      const row = await other.get(recording.run);
      assert.deepEqual([row?.state, row?.outcome, row?.head, row?.session], ["done", "finished", 3, recording.session]);
      assert.equal(row?.tenant, recording.tenant);
      assert.deepEqual(row?.request, request);
      const signals = await other.signals(recording.run, 0);
      assert.deepEqual(
        signals,
        recording.signals.map((signal, index) => ({ number: index + 1, ...signal })),
      );
      if (journal.wire) {
        const wires = await other.wire?.(recording.run);
        assert.deepEqual(
          wires?.map(({ wire, bytes }) => [wire, [...bytes]]),
          [["openai-chat", [1, 0, 255]]],
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 120));
      assert.deepEqual(await other.claim("w", 10), []);
    });

    it("takes a long run in and gives any page of it", async () => {
      const journal = await bench.open();
      const recording = recordingOf([...Array.from({ length: 600 }, (_, n) => text(`${n}`)), end]);
      await journal.restore(recording);
      for (const [after, limit] of [
        [0, 1_000],
        [255, 2],
        [256, 256],
        [500, 512],
        [600, 1],
      ] as const) {
        assert.deepEqual(await journal.read(recording.run, after, limit), recording.events.slice(after, after + limit));
      }
      await journal.prune({ keep: 0 });
      assert.deepEqual(await journal.read(recording.run, 0, 10), []);
    });

    it("parks a run that has no end, until a signal comes that it has not brought along", async () => {
      const journal = await bench.open(50);
      const recording = recordingOf([text("a")]);
      await journal.restore(recording);
      await new Promise((resolve) => setTimeout(resolve, 120));
      assert.deepEqual(await journal.claim("w", 10), []);
      await journal.signal(recording.run, { id: "wake", kind: "message", body: { text: "go on" } });
      const { ownership, signals } = await claimWhenFree(journal, "w");
      assert.deepEqual([ownership.run, ownership.epoch, ownership.head, signals], [recording.run, 2, 1, 2]);
      assert.equal(await put(journal, ownership, [text("b")]), true);
    });

    it("refuses an id that is taken and a session that is busy, and leaves both as they are", async () => {
      const journal = await bench.open();
      const recording = recordingOf([text("a"), end]);
      await journal.restore(recording);
      await assert.rejects(journal.restore(recordingOf([end], recording.run)), { code: "conflict" });
      assert.equal((await journal.read(recording.run, 0, 10)).length, 2);
      const busy = recordingOf([end]);
      await claimed(journal, { tenant: busy.tenant, session: busy.session });
      await assert.rejects(journal.restore(busy), { code: "conflict" });
      assert.equal(await journal.get(busy.run), undefined);
    });
  });
}

function recordingOf(bodies: Parameters<typeof eventsAfter>[1], run = freshName("run")): Recording {
  const session = freshName("session");
  const ownership = { run, session, epoch: 1, worker: "", head: 0 };
  return {
    run,
    tenant: "elsewhere",
    session,
    request,
    signals: [{ id: "s", kind: "message", body: { text: "hé\n" } }],
    wires: [{ round: 1, attempt: 1, wire: "openai-chat", bytes: Uint8Array.from([1, 0, 255]) }],
    events: eventsAfter(ownership, bodies),
  };
}
