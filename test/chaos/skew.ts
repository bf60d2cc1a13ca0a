import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import type { Cut } from "./plugin-copy.ts";

const now = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/** SQLite takes its time from the system. In a copy with these cuts a table says how far that is off. */
export const sqliteSkew: readonly Cut[] = [
  ["sql", now, `(${now} + (SELECT ms FROM skew))`],
  [
    "schema",
    "CREATE TABLE runs",
    "CREATE TABLE skew (ms INTEGER NOT NULL); INSERT INTO skew VALUES (0); CREATE TABLE runs",
  ],
];

export function setSqliteSkew(file: string, ms: number): void {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  try {
    database.prepare("UPDATE skew SET ms = ?").run(ms);
  } finally {
    database.close();
  }
}

/** Gives a server a second `clock_timestamp()`, which adds what a table says. Those who come by `skewedUrl` find that one. */
export async function postgresSkew(url: string): Promise<void> {
  await query(
    url,
    `CREATE SCHEMA IF NOT EXISTS skewed; CREATE TABLE IF NOT EXISTS skewed.skew (ms float8 NOT NULL);
    TRUNCATE skewed.skew; INSERT INTO skewed.skew VALUES (0);
    CREATE OR REPLACE FUNCTION skewed.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
      'SELECT pg_catalog.clock_timestamp() + ms * interval ''1 millisecond'' FROM skewed.skew'`,
  );
}

export const skewedUrl = (url: string): string =>
  `${url}?options=${encodeURIComponent("-c search_path=skewed,pg_catalog")}`;

export const setPostgresSkew = (url: string, ms: number): Promise<void> =>
  query(url, "UPDATE skewed.skew SET ms = $1", ms);

async function query(url: string, text: string, ...values: readonly number[]): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on("error", () => {}); // told by the query too
  try {
    await client.connect();
    if (values.length === 0) await client.query(text);
    else await client.query(text, [...values]);
  } finally {
    await client.end().catch(() => {});
  }
}
