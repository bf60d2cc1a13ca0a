import { strict as assert } from "node:assert";
import { createHash } from "node:crypto";
import type { BlobStore, Journal } from "../core/journal/journal.ts";
import { claimed, finish, freshName, type JournalBench } from "./journal-bench.ts";

/** Blobs, where the engine supports them. */
export function blobCases(bench: JournalBench): void {
  describe("blobs", () => {
    let journal: Journal;
    let blobs: BlobStore;
    beforeEach(async function () {
      journal = await bench.open();
      if (journal.blobs === undefined) this.skip();
      blobs = journal.blobs;
    });

    it("returns exactly the bytes, on another replica too, and keeps them once", async () => {
      const [hash, bytes] = content();
      const [first, second] = [freshName("run"), freshName("run")];
      await blobs.put(first, hash, bytes);
      await blobs.put(second, hash, bytes);
      await blobs.put(second, hash, bytes);
      const other = (await bench.reopen()).blobs;
      assert.deepEqual(Buffer.from((await other?.get(hash)) ?? []), bytes);
      assert.deepEqual([await other?.of(first), await other?.of(second)], [[hash], [hash]]);
      assert.equal(await other?.get(hash.replace(/^./, (digit) => (digit === "0" ? "1" : "0"))), undefined);
      assert.deepEqual(await other?.of(freshName("run")), []);
    });

    it("gives the same bytes piece by piece, and nothing of what is not there", async function () {
      if (blobs.pieces === undefined) this.skip();
      for (const size of [1, 200_000, 3_500_000]) {
        const [hash, bytes] = content(size);
        await blobs.put(freshName("run"), hash, bytes);
        const pieces: Uint8Array[] = [];
        for await (const piece of (await blobs.pieces(hash)) ?? []) pieces.push(piece);
        assert.ok(Buffer.concat(pieces).equals(bytes), `${size} bytes`);
      }
      assert.equal(await blobs.pieces("0".repeat(64)), undefined);
    });

    it("takes up for another run what is there, and says when it is not", async function () {
      if (blobs.use === undefined) this.skip();
      const [hash, bytes] = content();
      const other = freshName("run");
      assert.equal(await blobs.use(other, hash), false);
      assert.deepEqual(await blobs.of(other), []);
      await blobs.put(freshName("run"), hash, bytes);
      assert.equal(await blobs.use(other, hash), true);
      assert.deepEqual(await blobs.of(other), [hash]);
    });

    it("keeps what a run uses when another one that used it is pruned", async () => {
      const [hash, bytes] = content();
      const { ownership } = await claimed(journal);
      const { ownership: kept } = await claimed(journal);
      for (const { run } of [ownership, kept]) await blobs.put(run, hash, bytes);
      await finish(journal, ownership);
      assert.equal(await journal.prune({ keep: 0 }), 1);
      assert.deepEqual(await blobs.of(ownership.run), []);
      assert.deepEqual(Buffer.from((await blobs.get(hash)) ?? []), bytes);
    });
  });
}

function content(size = 200_000): [hash: string, bytes: Buffer] {
  const bytes = Buffer.concat([Buffer.from(freshName("content")), Buffer.alloc(size, 0xa5)]);
  return [createHash("sha256").update(bytes).digest("hex"), bytes];
}
