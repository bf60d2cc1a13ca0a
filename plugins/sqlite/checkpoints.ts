import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Operation } from "./protocol.ts";

/** Pages of the log that are worth copying into the file: 8 MiB. Every append rewrites a page of runs, so it should be rare. */
const worth = 2_000;
/** Small commits between two looks. */
const every = 32;

/** Pages at which a commit copies them itself, because the thread that should has not kept up. */
export const mostInLog = 16_000;

/**
 * Tells when the log has grown enough to be copied into the file. Another thread does that: it takes 50 to 200 ms for 8 MiB,
 * for which every commit would wait.
 */
export class LogSize {
  /** Copies nothing. Before SQLite 3.51 it copies, as every commit did then. */
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
