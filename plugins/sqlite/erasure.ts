import type { DatabaseSync } from "node:sqlite";

/** Overwrites content that moves within the file, where that costs no further writes. */
export const keepNoTraces = (database: DatabaseSync): void => database.exec("PRAGMA secure_delete = FAST");

/** From now on, until `forgetLog`, overwrites what is removed. That costs writes, so it is used only for runs removed by name. */
export const overwriteRemoved = (database: DatabaseSync): void => database.exec("PRAGMA secure_delete = ON");

/** How long an append may wait for it, ms. */
const patience = 20;

/** Also removes erased content from the file's log. False: a reader was in the way. */
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
