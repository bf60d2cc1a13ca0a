import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Operation } from "./protocol.ts";

/** Log size in pages that is worth copying into the file: 8 MiB. Every append rewrites a page of runs, so copying should be rare. */
const worth = 2_000;
/** Small commits between two checks. */
const every = 32;

/** Log size in pages at which a commit copies it itself, because the thread for that has not kept up. */
export const mostInWal = 16_000;

/**
 * Detects when the write-ahead log should be copied into the file. Another thread does it: 8 MiB take 50 to 200 ms, for which every
 * commit would wait.
 */
export class WalSize {
  /** Reads the log's size without copying. Before SQLite 3.51 it copies, as every commit did then. */
  readonly #look: StatementSync;
  #commits = 0;

  constructor(database: DatabaseSync) {
    this.#look = database.prepare("PRAGMA wal_checkpoint(NOOP)");
  }

  isDueAfter(operation: Operation): boolean {
    if (operation !== "putBlobPart" && ++this.#commits % every !== 0) return false;
    const found = this.#look.get();
    return Number(found?.log) - Number(found?.checkpointed) > worth;
  }
}
