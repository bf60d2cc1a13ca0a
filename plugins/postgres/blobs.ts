import type { BlobStore } from "venturi/plugin";
import type { Database } from "./database.ts";
import type { Statements } from "./sql.ts";

/** Images and files of runs, in the database shared by all replicas. */
export const blobStore = (database: Database, sql: Statements): BlobStore => ({
  async put(run, hash, bytes) {
    const op = "journal.blob";
    const there = await database.query(op, sql.useBlob, [run, hash]);
    if (there.length === 0) await database.query(op, sql.putBlob, [run, hash, Buffer.from(bytes)]);
  },
  async use(run, hash) {
    return (await database.query("journal.blob", sql.useBlob, [run, hash])).length > 0;
  },
  async get(hash) {
    const [found] = await database.query<{ bytes: Buffer }>("journal.blob", sql.blob, [hash]);
    return found?.bytes;
  },
  async of(run) {
    const rows = await database.query<{ hash: string }>("journal.blob", sql.blobsOf, [run]);
    return rows.map(({ hash }) => hash);
  },
});
