import type { DatabaseSync } from "node:sqlite";

const isThere = "SELECT name FROM sqlite_master WHERE name IN ('sqlite_stat1', 'sqlite_stat4')";

export const hasStatistics = (database: DatabaseSync): boolean => database.prepare(isThere).get() !== undefined;

/**
 * Removes statistics left by ANALYZE or `PRAGMA optimize`. Statements and indexes are designed for each other and need none; statistics of
 * a small file make SQLite scan all runs or records per read. A connection that has loaded them keeps them, so open another one.
 */
export function dropStatistics(database: DatabaseSync): void {
  for (const { name } of database.prepare(isThere).all()) database.exec(`DROP TABLE ${name}`);
}
