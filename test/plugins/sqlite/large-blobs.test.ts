import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { WalSize } from "../../../plugins/sqlite/checkpoints.ts";
import { migrate } from "../../../plugins/sqlite/schema.ts";
import { Store } from "../../../plugins/sqlite/store.ts";
import { claimed, put, text } from "../../../src/testing/journal-bench.ts";
import { freshFile, openFile, temporaryFolder } from "./folder.ts";

const mebibyte = 1024 ** 2;
const bytes = (size: number, fill: number) => new Uint8Array(size).fill(fill);

describe("sqlite, with large blobs", () => {
  const folder = temporaryFolder();

  it("copies their log into the file beside the commits of others, not in one of them", async () => {
    const file = freshFile(folder);
    const journal = await openFile(file);
    const { ownership } = await claimed(journal);
    await journal.blobs.put(ownership.run, "a".repeat(64), bytes(20 * mebibyte, 1));
    await put(journal, ownership, [text("hello")]);
    // Not by the log's own count: the first commit after a complete copy begins it anew.
    while (statSync(file).size < 8 * mebibyte) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(Buffer.from((await journal.blobs.get("a".repeat(64))) ?? []).equals(bytes(20 * mebibyte, 1))).to.equal(true);
    await journal.close();
  });

  it("copies nothing in a commit while the log is short of its bound", () => {
    const file = freshFile(folder);
    const database = new DatabaseSync(file);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 16000; CREATE TABLE parts (bytes BLOB)");
    const size = new WalSize(database);
    const insert = database.prepare("INSERT INTO parts VALUES (?)");
    const due: boolean[] = [];
    for (let part = 0; part < 12; part++) {
      insert.run(bytes(mebibyte, part));
      due.push(size.isDueAfter("putBlobPart"));
    }
    expect(due).to.deep.equal([...Array(7).fill(false), ...Array(5).fill(true)]);
    expect(database.prepare("PRAGMA wal_checkpoint(NOOP)").get()?.checkpointed).to.equal(0);
    database.close();
  });

  it("waits for the disk with every commit but that of a part, also after one that failed", () => {
    const database = new DatabaseSync(freshFile(folder));
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    migrate(database);
    const store = new Store(database, { lease: 30_000, busyTimeout: 100, pageBytes: mebibyte });
    const waits = () => database.prepare("PRAGMA synchronous").get()?.synchronous;
    store.putBlobPart("b".repeat(64), 0, bytes(mebibyte, 2));
    expect(waits()).to.equal(2);
    expect(() => store.putBlobPart(null as unknown as string, 0, bytes(1, 2))).to.throw();
    expect(waits()).to.equal(2);
    database.close();
  });
});
