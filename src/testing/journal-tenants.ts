import { strict as assert } from "node:assert";
import type { ListQuery } from "../core/run/list-query.ts";
import { shadowTenant } from "../core/run/shadow.ts";
import { claimed, enqueueing, finish, freshName, type JournalBench, put } from "./journal-bench.ts";

/** Tenancy: the same name in two tenants is two sessions, and two idempotency keys. */
export function tenantCases(bench: JournalBench): void {
  describe("tenants", () => {
    it("are part of a claim, a row and a page", async () => {
      const journal = await bench.open();
      const { run } = await journal.enqueue(enqueueing({ tenant: "ada" }));
      const [claim] = await journal.claim("w", 10);
      assert.equal(claim?.tenant, "ada");
      assert.equal((await journal.get(run))?.tenant, "ada");
      assert.equal((await journal.list({})).runs[0]?.tenant, "ada");
      const started = await claimed(journal, { tenant: "bob" });
      assert.equal(started.tenant, "bob");
    });

    it("and all else with a NUL in its name find nothing", async () => {
      const journal = await bench.open();
      await finish(journal, (await claimed(journal)).ownership);
      const nul = "a\0b";
      for (const query of [{ session: nul }, { tenant: nul }, { agent: nul }, { agents: [nul] }]) {
        assert.deepEqual(await journal.list(query), { runs: [] });
        assert.equal((await journal.totals?.(query, "agent"))?.all.runs ?? 0, 0);
      }
      if (journal.keepDigest !== undefined)
        for (const query of [{ by: nul }, { metadata: { [nul]: nul } }, { tool: nul }])
          assert.deepEqual(await journal.list(query), { runs: [] });
      assert.equal(await journal.get(nul), undefined);
      assert.deepEqual((await journal.usage?.({ by: ["model"], only: { model: nul } })) ?? [], []);
      assert.equal(await journal.keyValues?.get("space", nul), undefined);
      assert.deepEqual((await journal.audits({ run: nul })).records, []);
    });

    it("and their agents are counted in the backlog by state, a called run's question at its caller alone", async () => {
      const journal = await bench.open();
      if (journal.backlog === undefined) return;
      const asking = { type: "approval.requested", round: 1, call: "c", name: "t", arguments: {} } as const;
      const root = await claimed(journal, { tenant: "ada", request: { agent: "boss", input: {} } });
      await put(journal, root.ownership, [asking]);
      const parent = { run: root.ownership.run, call: "c", depth: 1 };
      const child = await claimed(journal, { tenant: "ada", request: { agent: "clerk", input: {}, parent } });
      await put(journal, child.ownership, [asking]);
      await journal.enqueue(enqueueing({ tenant: "bob", request: { agent: "clerk", input: {} } }));
      const done = await claimed(journal, { request: { agent: "gone", input: {} } });
      await finish(journal, done.ownership);
      const rows = await journal.backlog();
      const seen = rows.map(({ agent, state, runs }) => `${agent} ${state} ${runs}`).sort();
      assert.deepEqual(seen, ["boss running 1", "clerk ready 1", "clerk running 1"]);
      const known = rows.every(({ asking: open }) => open !== undefined);
      if (known)
        assert.equal(
          rows.reduce((sum, { asking: open }) => sum + Number(open), 0),
          1,
        );
    });

    it("have idempotency keys of their own, also when they enqueue at the same time", async () => {
      const journal = await bench.open();
      const other = await bench.reopen();
      const key = freshName("key");
      const tenants = ["ada", "bob", "ada", "bob"];
      const results = await Promise.all(
        tenants.map((tenant, n) => (n < 2 ? journal : other).enqueue(enqueueing({ tenant, key }))),
      );
      const [ada, bob, adaAgain, bobAgain] = results.map(({ run }) => run);
      assert.notEqual(ada, bob);
      assert.deepEqual([adaAgain, bobAgain], [ada, bob]);
      assert.equal(results.filter(({ existing }) => existing).length, 2);
    });

    it("cannot be mixed up by names that read the same side by side", async () => {
      const journal = await bench.open();
      const names = [
        ["a", "b c"],
        ["a b", "c"],
        ["a:b", "c"],
        ["a", "b:c"],
        ['a"', ',"b'],
        ["", "a b c"],
      ] as const;
      const runs = new Set<string>();
      for (const [tenant, name] of names) {
        const { run, claim } = await journal.enqueue(
          enqueueing({ tenant, key: name, session: name, whenBusy: "conflict", claimFor: "w" }),
        );
        assert.ok(claim);
        runs.add(run);
      }
      assert.equal(runs.size, names.length);
    });

    it("have sessions of their own: one's run under way holds up none of another's", async () => {
      const journal = await bench.open();
      const session = freshName("session");
      const { ownership } = await claimed(journal, { tenant: "ada", session });
      const waiting = await journal.enqueue(enqueueing({ tenant: "ada", session }));
      const { claim } = await journal.enqueue(
        enqueueing({ tenant: "bob", session, whenBusy: "conflict", claimFor: "w" }),
      );
      assert.ok(claim);
      await assert.rejects(journal.enqueue(enqueueing({ tenant: "ada", session, whenBusy: "conflict" })), {
        code: "conflict",
      });
      assert.deepEqual(await journal.claim("w", 10), []);
      await finish(journal, ownership);
      const [next] = await journal.claim("w", 10);
      assert.equal(next?.ownership.run, waiting.run);
    });

    it("and agents are a list's own conditions: pages are full, and none holds another's run", async () => {
      const journal = await bench.open();
      const session = freshName("session");
      const mine: string[] = [];
      for (let n = 0; n < 30; n++) {
        const tenant = n % 3 === 0 ? "ada" : "bob";
        const agent = n % 2 === 0 ? "a" : "b";
        const { run } = await journal.enqueue(enqueueing({ tenant, session, request: { agent, input: {} } }));
        if (tenant === "ada" && agent === "a") mine.push(run);
      }
      for (const oldestFirst of [true, false]) {
        const seen: string[] = [];
        let cursor: string | undefined;
        do {
          const query = { tenant: "ada", agents: ["a", "nobody"], session, limit: 2, oldestFirst };
          const page = await journal.list(cursor === undefined ? query : { ...query, cursor });
          if (page.cursor !== undefined) assert.equal(page.runs.length, 2);
          seen.push(...page.runs.map((row) => row.run));
          cursor = page.cursor;
        } while (cursor !== undefined);
        assert.deepEqual(seen, oldestFirst ? mine : mine.toReversed());
      }
      assert.deepEqual((await journal.list({ tenant: "ada", agents: [] })).runs, []);
      assert.deepEqual((await journal.list({ tenant: "nobody" })).runs, []);
      assert.deepEqual((await journal.list({ tenant: "ada", agent: "a", agents: ["b"] })).runs, []);
    });
  });

  describe("shadow runs", () => {
    it("are listed for those who name their tenant, and for nobody else", async () => {
      const journal = await bench.open();
      const agent = freshName("agent");
      const request = { agent, input: {} };
      const shadow = await journal.enqueue(enqueueing({ tenant: shadowTenant, request }));
      const live = await journal.enqueue(enqueueing({ tenant: "ada", request }));
      const listed = async (query: ListQuery) => (await journal.list({ agent, ...query })).runs.map(({ run }) => run);
      for (const query of [{}, { state: "ready" as const }, { oldestFirst: true }, { agents: [agent] }, { limit: 1 }])
        assert.deepEqual(await listed(query), [live.run]);
      assert.deepEqual(await listed({ tenant: "ada" }), [live.run]);
      assert.deepEqual(await listed({ tenant: shadowTenant }), [shadow.run]);
    });
  });

  describe("audit", () => {
    it("keeps what was added, in order, with the engine's time, for every replica to list", async () => {
      const journal = await bench.open();
      const other = await bench.reopen();
      await journal.audit({ action: "auth.failed", by: "127.0.0.1", details: { count: 3, odd: 'é"\n' } });
      await other.audit({ action: "run.cancelled", by: "key", tenant: "ada", run: "r1" });
      await journal.audit({ action: "run.cancelled", by: "key", tenant: "bob", run: "r2" });
      const { records, cursor } = await other.audits({});
      assert.equal(cursor, undefined);
      assert.deepEqual(
        records.map(({ at, number, ...entry }) => entry),
        [
          { action: "run.cancelled", by: "key", tenant: "bob", run: "r2" },
          { action: "run.cancelled", by: "key", tenant: "ada", run: "r1" },
          { action: "auth.failed", by: "127.0.0.1", details: { count: 3, odd: 'é"\n' } },
        ],
      );
      for (const { at } of records) assert.ok(Math.abs(at - Date.now()) < 60_000);
      const numbers = records.map(({ number }) => number);
      assert.deepEqual(
        numbers,
        numbers.toSorted((left, right) => right - left),
      );
    });

    it("lists by tenant, action and run, page by page, each record once", async () => {
      const journal = await bench.open();
      for (let n = 0; n < 7; n++) {
        await journal.audit({ action: n % 2 === 0 ? "even" : "odd", by: "k", tenant: "ada", run: `r${n}` });
      }
      await journal.audit({ action: "even", by: "k", tenant: "bob" });
      const seen: (string | undefined)[] = [];
      let cursor: string | undefined;
      do {
        const query = { tenant: "ada", action: "even", limit: 3 };
        const page = await journal.audits(cursor === undefined ? query : { ...query, cursor });
        seen.push(...page.records.map(({ run }) => run));
        cursor = page.cursor;
      } while (cursor !== undefined);
      assert.deepEqual(seen, ["r6", "r4", "r2", "r0"]);
      assert.equal((await journal.audits({ run: "r3" })).records.length, 1);
    });

    it("outlives the runs it tells of", async () => {
      const journal = await bench.open();
      const { ownership } = await claimed(journal);
      await journal.audit({ action: "run.cancelled", by: "k", run: ownership.run });
      await finish(journal, ownership);
      await journal.prune({ keep: 0 });
      assert.equal((await journal.audits({ run: ownership.run })).records.length, 1);
    });
  });
}
