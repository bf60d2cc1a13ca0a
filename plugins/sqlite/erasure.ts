import type { DatabaseSync } from "node:sqlite";

/** Overwrites content that moves within the file, where that costs no further writes. */
export const keepNoTraces = (database: DatabaseSync): void => database.exec("PRAGMA secure_delete = FAST");

/** Overwrites what `work` removes, if it is for runs removed by name: it costs writes. Their sweepers have negative numbers, in any process. */
export function removing<T>(database: DatabaseSync, sweeper: number, work: () => T): T {
  if (sweeper > 0) return work();
  database.exec("PRAGMA secure_delete = ON");
  try {
    return work();
  } finally {
    keepNoTraces(database);
  }
}

/** How long an append may wait for it, ms. */
const patience = 20;

/** Also removes erased content from the file's log. False: a reader was in the way. */
export function forgetLog(database: DatabaseSync, busyTimeout: number): boolean {
  database.exec(`PRAGMA busy_timeout = ${patience}`);
  try {
    const done = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
    return Number(done?.busy) !== 1;
  } finally {
    database.exec(`PRAGMA busy_timeout = ${busyTimeout}`);
  }
}
