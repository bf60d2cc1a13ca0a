import { strict as assert } from "node:assert";
import type { Journal } from "../core/journal/journal.ts";
import type { KeyValues } from "../core/journal/key-values.ts";
import { freshName, type JournalBench } from "./journal-bench.ts";

/** Small values for plugins, where the engine stores them. */
export function keyValueCases(bench: JournalBench): void {
  describe("key values", () => {
    let journal: Journal;
    let values: KeyValues;
    let space: string;
    beforeEach(async function () {
      journal = await bench.open();
      if (journal.keyValues === undefined) this.skip();
      values = journal.keyValues;
      space = freshName("space");
    });
    const other = async () => (await bench.reopen()).keyValues ?? assert.fail();
    const put = async (key: string, value: string, version = 0) => await values.put(space, { key, value, version });

    it("gives back what was put, on another replica too, and nothing of another space", async () => {
      const value = JSON.stringify({ text: 'quotes " and \\ and ü€😀\n' });
      const version = await put("a", value);
      assert.ok(version !== undefined && version > 0);
      assert.deepEqual({ ...(await (await other()).get(space, "a")) }, { key: "a", value, version });
      assert.equal(await values.get(freshName("space"), "a"), undefined);
      assert.equal(await values.get(space, "b"), undefined);
    });

    it("lets one of several writers with the same version win, and gives each write another version", async () => {
      const elsewhere = await other();
      const writes = Array.from({ length: 8 }, (_, index) =>
        (index % 2 ? values : elsewhere).put(space, { key: "k", value: String(index), version: 0 }),
      );
      const versions = (await Promise.all(writes)).filter((version) => version !== undefined);
      assert.equal(versions.length, 1);
      const [first = 0] = versions;
      const second = (await put("k", "again", first)) ?? 0;
      assert.notEqual(second, first);
      assert.equal(await put("k", "late", first), undefined);
      assert.equal((await values.get(space, "k"))?.value, "again");
    });

    it("removes only the version that the caller knows, and a key made anew is not taken for the old one", async () => {
      const first = (await put("k", "one")) ?? 0;
      const second = (await put("k", "two", first)) ?? 0;
      assert.equal(await values.remove(space, "k", first), false);
      assert.equal(await values.remove(space, "k", second), true);
      assert.equal(await values.remove(space, "k", second), false);
      assert.equal(await values.get(space, "k"), undefined);
      assert.equal(await put("k", "stale", second), undefined);
      const third = (await put("k", "three")) ?? 0;
      assert.ok(third > 0 && third !== second && third !== first);
      assert.equal(await values.remove(space, "k", second), false);
    });

    it("lists keys in the order of their bytes, by prefix and after a key", async () => {
      const keys = ["a", "a/1", "a/10", "a/2", "b*", "b.c d", "é", "\uffee", "😀", "a%", "a_"];
      for (const key of keys) await put(key, key.toUpperCase());
      const sorted = keys.toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
      const listed = async (range: object) => (await values.list(space, range)).map(({ key }) => key);
      assert.deepEqual(await listed({}), sorted);
      assert.deepEqual(await listed({ prefix: "a/" }), ["a/1", "a/10", "a/2"]);
      assert.deepEqual(await listed({ prefix: "a/", after: "a/1", limit: 1 }), ["a/10"]);
      assert.deepEqual(await listed({ prefix: "a%" }), ["a%"]);
      assert.deepEqual(await listed({ after: "é" }), ["\uffee", "😀"]);
      assert.deepEqual(await listed({ prefix: "zzz" }), []);
    });

    it("keeps values when runs are pruned", async () => {
      await put("kept", "x".repeat(200_000));
      await journal.prune({ keep: 0 });
      assert.equal((await values.get(space, "kept"))?.value.length, 200_000);
    });
  });
}
