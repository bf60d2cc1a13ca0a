import { type BlobStore, VenturiError } from "venturi/plugin";
import type { Database } from "./database.ts";
import type { Statements } from "./sql.ts";

/** Larger blobs are read in pieces of this size. The column is not compressed, so that a piece can be read without the rest. */
const piece = 1024 * 1024;

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
  async pieces(hash) {
    const [found] = await database.query<{ bytes: Buffer; size: number }>("journal.blob", sql.blobPiece, [
      hash,
      0,
      piece,
    ]);
    return found && piecesFrom(database, sql, { hash, ...found });
  },
  async of(run) {
    const rows = await database.query<{ hash: string }>("journal.blob", sql.blobsOf, [run]);
    return rows.map(({ hash }) => hash);
  },
});

async function* piecesFrom(
  database: Database,
  sql: Statements,
  { hash, size, bytes }: { readonly hash: string; readonly size: number; readonly bytes: Buffer },
): AsyncGenerator<Uint8Array> {
  yield bytes;
  for (let at = piece; at < size; at += piece) {
    const [next] = await database.query<{ bytes: Buffer }>("journal.blob", sql.blobPiece, [hash, at, piece]);
    if (next === undefined)
      throw new VenturiError("journal.blob", "not_found", `the content ${hash} was removed while it was read`);
    yield next.bytes;
  }
}
