import type { DatabaseSync } from "node:sqlite";

/** What moves within the file is overwritten where it was, as far as that costs no further writes. */
export const keepNoTraces = (database: DatabaseSync): void => database.exec("PRAGMA secure_delete = FAST");

/** What is removed from now on is overwritten in the file; until `forgetLog`. It costs writes, so only what is removed by name. */
export const overwriteRemoved = (database: DatabaseSync): void => database.exec("PRAGMA secure_delete = ON");

/** How long an append may wait for it, ms. */
const patience = 20;

/** Takes what was removed out of the log of the file too. False: a reader was in the way. */
export function forgetLog(database: DatabaseSync, busyTimeout: number): boolean {
  database.exec(`PRAGMA busy_timeout = ${patience}`);
  try {
    const done = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
    if (Number(done?.busy) === 1) return false;
    keepNoTraces(database);
    return true;
  } finally {
    database.exec(`PRAGMA busy_timeout = ${busyTimeout}`);
  }
}
