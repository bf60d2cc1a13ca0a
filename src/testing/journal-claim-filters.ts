import { strict as assert } from "node:assert";
import { claimed, enqueueing, freshName, type JournalBench, put, text, withTime } from "./journal-bench.ts";

/** Claims by agent and revision. */
export function claimFilterCases(bench: JournalBench): void {
  describe("claim, filtered", () => {
    const of = (agent: string, revision?: string) => ({
      request: { agent, input: {}, ...(revision === undefined ? {} : { revision }) },
    });

    it("leaves the runs of other agents to those who have them", async () => {
      const journal = await bench.open();
      const other = await bench.reopen();
      const { run: a } = await journal.enqueue(enqueueing(of("a")));
      const { run: b } = await journal.enqueue(enqueueing(of("b")));
      const { run: c } = await journal.enqueue(enqueueing(of("c")));
      assert.deepEqual(await journal.claim("w", 10, { agents: [] }), []);
      assert.deepEqual(await journal.claim("w", 10, { agents: ["nobody"] }), []);
      const first = await journal.claim("w", 10, { agents: ["a", "c"] });
      assert.deepEqual(
        first.map(({ ownership }) => ownership.run),
        [a, c],
      );
      assert.equal((await journal.get(b))?.state, "ready");
      const second = await other.claim("w2", 10, { agents: ["b"] });
      assert.deepEqual(
        second.map(({ ownership }) => ownership.run),
        [b],
      );
    });

    it("fills its limit past runs that are not for it", async () => {
      const journal = await bench.open();
      for (let n = 0; n < 20; n++) await journal.enqueue(enqueueing(of("b")));
      const { run } = await journal.enqueue(enqueueing(of("a")));
      const claims = await journal.claim("w", 1, { agents: ["a"] });
      assert.deepEqual(
        claims.map(({ ownership }) => ownership.run),
        [run],
      );
    });

    it("leaves a lost run, a parked one that was signalled and one given back to those who have its agent", async () => {
      const journal = await bench.open(60);
      const { ownership: lost } = await claimed(journal, { ...of("b"), claimFor: "dead" });
      const { ownership: parked } = await claimed(journal, of("b"));
      await put(journal, parked, [text("a")], { state: "waiting", seenSignals: 0 });
      await journal.signal(parked.run, { id: "s", kind: "message", body: {} });
      const { ownership: back } = await claimed(journal, of("b"));
      await journal.release(back);
      await new Promise((resolve) => setTimeout(resolve, 150));
      assert.deepEqual(await journal.claim("w", 10, { agents: ["a"] }), []);
      const claims = await journal.claim("w", 10, { agents: ["b"] });
      assert.deepEqual(
        claims.map(({ ownership }) => ownership.run),
        [lost.run, parked.run, back.run],
      );
    });

    it("keeps a session's order: a run of another agent is waited for, not passed", async () => {
      const journal = await bench.open();
      const session = freshName("session");
      await journal.enqueue(enqueueing({ ...of("b"), session }));
      await journal.enqueue(enqueueing({ ...of("a"), session }));
      assert.deepEqual(await journal.claim("w", 10, { agents: ["a"] }), []);
    });

    it("gives a cancelled run to anyone, for it has only to end", async () => {
      const journal = await bench.open();
      const { run } = await journal.enqueue(enqueueing(of("b", "r1")));
      await journal.signal(run, { id: "c", kind: "cancel", body: {} });
      const claims = await journal.claim("w", 10, { agents: ["a"], revisions: ["r2"] });
      assert.deepEqual(
        claims.map(({ ownership }) => ownership.run),
        [run],
      );
    });

    it("by revision leaves those of other revisions, and takes those without one", async () => {
      const journal = await bench.open();
      const { run: old } = await journal.enqueue(enqueueing(of("a", "r1")));
      const { run: own } = await journal.enqueue(enqueueing(of("a", "r2")));
      const { run: any } = await journal.enqueue(enqueueing(of("a")));
      const claims = await journal.claim("w", 10, { agents: ["a"], revisions: ["r2", "r3"] });
      assert.deepEqual(
        claims.map(({ ownership }) => ownership.run),
        [own, any],
      );
      assert.deepEqual(
        (await journal.claim("w", 10, { agents: ["a"] })).map(({ ownership }) => ownership.run),
        [old],
      );
    });

    it("takes the runs it names, whatever their agent and revision", async () => {
      const journal = await bench.open();
      const { run: named } = await journal.enqueue(enqueueing(of("b", "r1")));
      await journal.enqueue(enqueueing(of("b", "r1")));
      const claims = await journal.claim("w", 10, { agents: ["a"], revisions: ["r2"], runs: [named] });
      assert.deepEqual(
        claims.map(({ ownership }) => ownership.run),
        [named],
      );
    });

    it("renews the worker's lease even when nothing fits", () =>
      withTime(200, async (lease) => {
        const journal = await bench.open(lease);
        const { ownership } = await claimed(journal);
        for (let n = 0; n < 10; n++) {
          await journal.claim("worker-1", 10, { agents: [] });
          assert.deepEqual(await journal.claim("worker-2", 10), []);
          await new Promise((resolve) => setTimeout(resolve, lease / 8));
        }
        assert.equal(await put(journal, ownership, [text("still mine")]), true);
      }));
  });
}
