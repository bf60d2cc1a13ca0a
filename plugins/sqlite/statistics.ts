import type { DatabaseSync } from "node:sqlite";

const isThere = "SELECT name FROM sqlite_master WHERE name IN ('sqlite_stat1', 'sqlite_stat4')";

export const hasStatistics = (database: DatabaseSync): boolean => database.prepare(isThere).get() !== undefined;

/**
 * Removes what ANALYZE or `PRAGMA optimize` left. The statements and indexes are made for each other and need no statistics; taken
 * when the file was small, they make SQLite scan all runs or records for each read. A connection that has loaded them keeps
 * them: open another one.
 */
export function dropStatistics(database: DatabaseSync): void {
  for (const { name } of database.prepare(isThere).all()) database.exec(`DROP TABLE ${name}`);
}
