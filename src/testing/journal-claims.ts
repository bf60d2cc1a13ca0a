import { strict as assert } from "node:assert";
import {
  claimed,
  claimWhenFree,
  enqueueing,
  finish,
  freshName,
  type JournalBench,
  put,
  text,
  withTime,
} from "./journal-bench.ts";

/** Enqueueing, claiming, leases and sessions. */
export function claimCases(bench: JournalBench): void {
  describe("enqueue", () => {
    it("stores the request whole and offers the run to whoever claims", async () => {
      const journal = await bench.open();
      const request = { agent: "a", input: { text: "hé\n", variables: { n: [1, null] } }, metadata: { k: "v" } };
      const { run, existing } = await journal.enqueue(enqueueing({ request }));
      assert.equal(existing, false);
      const [claim, ...more] = await journal.claim("w", 10);
      assert.deepEqual(claim?.request, request);
      assert.deepEqual(claim?.ownership, { run, session: undefined, epoch: 1, worker: "w", head: 0 });
      assert.deepEqual(more, []);
      const row = await journal.get(run);
      assert.deepEqual([row?.state, row?.agent, row?.request], ["running", "a", request]);
    });

    it("finds the first run again by its key, whatever is asked the second time", async () => {
      const journal = await bench.open();
      const key = freshName("key");
      const first = await journal.enqueue(enqueueing({ key }));
      const second = await journal.enqueue(enqueueing({ key, claimFor: "w" }));
      assert.deepEqual(second, { run: first.run, existing: true });
      assert.equal((await journal.list({})).runs.length, 1);
    });

    it("makes one run of many enqueues with one key at the same time", async () => {
      const journal = await bench.open();
      const other = await bench.reopen();
      const key = freshName("key");
      const results = await Promise.all(
        [journal, other, journal, other].map((one) => one.enqueue(enqueueing({ key }))),
      );
      assert.equal(new Set(results.map(({ run }) => run)).size, 1);
      assert.equal(results.filter(({ existing }) => !existing).length, 1);
    });

    it("refuses a caller's run past the most it may have open, waiting in a session's line or not, parked ones aside", async () => {
      const journal = await bench.open();
      const caller = { id: freshName("caller"), concurrentRuns: 2 };
      const request = { agent: "a", input: {}, caller };
      const session = freshName("session");
      const { ownership } = await claimed(journal, { request, session });
      const key = freshName("key");
      const waiting = await journal.enqueue(enqueueing({ request, session, key }));
      const one = enqueueing({ request, session });
      await assert.rejects(journal.enqueue(one), { code: "rate_limited" });
      assert.equal(await journal.get(one.run), undefined);
      assert.deepEqual(await journal.enqueue(enqueueing({ request, key })), { run: waiting.run, existing: true });
      await journal.enqueue(enqueueing({ request, tenant: "another" }));
      await journal.enqueue(enqueueing({ request: { ...request, caller: { ...caller, id: freshName("caller") } } }));
      await put(journal, ownership, [text("a")], { state: "waiting", seenSignals: 0 });
      await journal.enqueue(enqueueing({ request }));
      await assert.rejects(journal.enqueue(enqueueing({ request })), { code: "rate_limited" });
      await journal.signal(ownership.run, { id: "s", kind: "message", body: {} });
      const next = (await journal.claim("w", 10)).find(({ ownership: { run } }) => run === ownership.run);
      assert.ok(next);
      await finish(journal, next.ownership);
      await assert.rejects(journal.enqueue(enqueueing({ request })), { code: "rate_limited" });
    });

    it("finds no more room than there is for many of a caller at the same time", async () => {
      const journal = await bench.open();
      const other = await bench.reopen();
      const request = { agent: "a", input: {}, caller: { id: freshName("caller"), concurrentRuns: 3 } };
      const settled = await Promise.allSettled(
        Array.from({ length: 12 }, (_, n) => (n % 2 === 0 ? journal : other).enqueue(enqueueing({ request }))),
      );
      assert.equal(settled.filter(({ status }) => status === "fulfilled").length, 3);
    });

    it("refuses a run id that is already there", async () => {
      const journal = await bench.open();
      const item = enqueueing();
      await journal.enqueue(item);
      await assert.rejects(journal.enqueue({ ...item, session: "other" }), { code: "conflict" });
    });

    it("refuses a second run of a busy session with `refuseBusy`, and takes it once the first has ended", async () => {
      const journal = await bench.open();
      const session = freshName("session");
      const { ownership } = await claimed(journal, { session });
      const item = enqueueing({ session, whenBusy: "conflict" });
      await assert.rejects(journal.enqueue(item), { code: "conflict" });
      assert.equal(await journal.get(item.run), undefined);
      await finish(journal, ownership);
      assert.equal((await journal.enqueue(item)).existing, false);
    });
  });

  describe("claim", () => {
    it("raises the epoch by one each time and says where the run stands", async () => {
      const journal = await bench.open();
      const { ownership } = await claimed(journal);
      await put(journal, ownership, [text("a"), text("b")]);
      for (const epoch of [2, 3, 4]) {
        const [held] = await journal.held(epoch === 2 ? "worker-1" : "w");
        if (held) await journal.release(held);
        const claim = await claimWhenFree(journal, "w");
        assert.deepEqual([claim.ownership.epoch, claim.ownership.head], [epoch, 2]);
      }
    });

    it("gives a run to one of many who ask at the same time", async () => {
      const journal = await bench.open();
      const other = await bench.reopen();
      const runs = new Set<string>();
      for (let n = 0; n < 30; n++) runs.add((await journal.enqueue(enqueueing())).run);
      const asked = await Promise.all(
        [journal, other, journal, other].map(async (one, n) => {
          const mine = [];
          for (let claims = await one.claim(`w${n}`, 3); claims.length > 0; claims = await one.claim(`w${n}`, 3)) {
            mine.push(...claims);
          }
          return mine;
        }),
      );
      const claims = asked.flat();
      // Claimers skip rows that another has locked, so a final claim is needed.
      claims.push(...(await journal.claim("last", 30)));
      assert.deepEqual(new Set(claims.map(({ ownership }) => ownership.run)), runs);
      assert.equal(claims.length, 30);
    });

    it("leaves the runs of a worker that beats, and takes those of one that stopped", () =>
      withTime(200, async (lease) => {
        const journal = await bench.open(lease);
        const { ownership } = await claimed(journal);
        await put(journal, ownership, [text("a")]);
        for (let n = 0; n < 10; n++) {
          await journal.heartbeat("worker-1");
          assert.deepEqual(await journal.claim("worker-2", 10), []);
          await new Promise((resolve) => setTimeout(resolve, lease / 8));
        }
        const claim = await claimWhenFree(journal, "worker-2");
        assert.deepEqual([claim.ownership.run, claim.ownership.epoch, claim.ownership.head], [ownership.run, 2, 1]);
        assert.equal(await put(journal, ownership, [text("zombie")]), false);
      }));

    it("does not take a run from a worker that claims again after a long silence, unless someone did", async () => {
      const journal = await bench.open(100);
      const { ownership } = await claimed(journal);
      await new Promise((resolve) => setTimeout(resolve, 150));
      assert.deepEqual(await journal.claim("worker-1", 10), []);
      assert.equal(await put(journal, ownership, [text("still mine")]), true);
    });

    it("says what a worker holds", async () => {
      const journal = await bench.open();
      const { ownership: first } = await claimed(journal);
      const { ownership: second } = await claimed(journal, { claimFor: "worker-2" });
      const { ownership: third } = await claimed(journal);
      await finish(journal, third);
      assert.deepEqual(await journal.held("worker-1"), [first]);
      await journal.release(second);
      assert.deepEqual(await journal.held("worker-2"), []);
    });

    it("frees all runs of a dead worker at once, where the journal can, and fences what it still writes", async () => {
      const journal = await bench.open();
      if (journal.free === undefined) return;
      const dead = [await claimed(journal), await claimed(journal)];
      const { ownership: alive } = await claimed(journal, { claimFor: "worker-2" });
      assert.equal(await journal.free("worker-1"), 2);
      assert.equal(await journal.free("worker-1"), 0);
      for (const { ownership } of dead) assert.equal(await put(journal, ownership, [text("late")]), false);
      assert.equal((await journal.claim("worker-3", 10)).length, 2);
      assert.equal(await put(journal, alive, [text("a")]), true);
    });

    it("a release of an ownership that was fenced changes nothing", async () => {
      const journal = await bench.open();
      const { ownership } = await claimed(journal);
      await journal.release(ownership);
      const next = await claimWhenFree(journal, "worker-2");
      await journal.release(ownership);
      assert.deepEqual(await journal.claim("worker-3", 10), []);
      assert.equal(await put(journal, next.ownership, [text("a")]), true);
    });

    it("an append with state ready gives the run back with its events", async () => {
      const journal = await bench.open();
      const { ownership } = await claimed(journal);
      await put(journal, ownership, [text("a")], { state: "ready" });
      const claim = await claimWhenFree(journal, "worker-2");
      assert.deepEqual([claim.ownership.run, claim.ownership.head], [ownership.run, 1]);
    });
  });

  describe("sessions", () => {
    it("have one unfinished run at a time, in the order they came", async () => {
      const journal = await bench.open();
      const session = freshName("session");
      const runs: string[] = [];
      await journal.heartbeat("w");
      for (let n = 0; n < 4; n++) runs.push((await journal.enqueue(enqueueing({ session, claimFor: "w" }))).run);
      const order: string[] = [];
      const [first] = await journal.held("w");
      let ownership = first;
      while (ownership) {
        assert.deepEqual(await journal.claim("w2", 10), []);
        order.push(ownership.run);
        await finish(journal, ownership);
        [ownership] = (await journal.claim("w", 10)).map((claim) => claim.ownership);
      }
      assert.deepEqual(order, runs);
    });

    it("wait for a run that is parked, too", async () => {
      const journal = await bench.open();
      const session = freshName("session");
      const { ownership } = await claimed(journal, { session });
      await journal.enqueue(enqueueing({ session }));
      await put(journal, ownership, [text("a")], { state: "waiting", seenSignals: 0 });
      assert.deepEqual(await journal.claim("w", 10), []);
    });

    it("do not hold up each other, nor runs without one", async () => {
      const journal = await bench.open();
      const sessions = [freshName("session"), freshName("session"), undefined, undefined];
      for (const session of sessions) await journal.enqueue(enqueueing({ session }));
      assert.equal((await journal.claim("w", 10)).length, 4);
    });

    it("never have two runs claimed when many are enqueued at once from two replicas", async () => {
      const journal = await bench.open();
      const other = await bench.reopen();
      for (let round = 0; round < 5; round++) {
        const session = freshName("session");
        const results = await Promise.all(
          [journal, other, journal, other, journal, other].map((one) =>
            one.enqueue(enqueueing({ session, claimFor: "w" })),
          ),
        );
        assert.equal(results.filter(({ claim }) => claim !== undefined).length, 1);
      }
    });

    it("let a cancelled run that waits its turn be claimed, so that it can end", async () => {
      const journal = await bench.open();
      const session = freshName("session");
      await claimed(journal, { session });
      const { run } = await journal.enqueue(enqueueing({ session }));
      await journal.signal(run, { id: "c", kind: "cancel", body: {} });
      const claims = await journal.claim("w", 10);
      assert.deepEqual(
        claims.map((claim) => [claim.ownership.run, claim.signals]),
        [[run, 1]],
      );
    });
  });
}
