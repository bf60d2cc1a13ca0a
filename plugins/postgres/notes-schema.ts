import type { ClientBase } from "pg";
import { UnusableDatabase } from "./schema.ts";

/** Each entry migrates to the next version. A note's place is stored as its hash, short enough for an index. */
const migrations = [
  `
  CREATE TABLE $.notes (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    place bytea NOT NULL,
    id text COLLATE "C" NOT NULL,
    tenant text NOT NULL, scope text NOT NULL, owner text NOT NULL,
    text text NOT NULL, at double precision NOT NULL,
    "by" text, agent text, run text,
    words tsvector NOT NULL,
    model text, bytes bytea,
    UNIQUE (place, id)
  );
  CREATE INDEX notes_words ON $.notes USING gin (words);
  CREATE INDEX notes_newest ON $.notes (place, number);
  CREATE INDEX notes_of_run ON $.notes (run) WHERE run IS NOT NULL;
  `,
];

/** "vntm": advisory lock against concurrent migrations. */
const lock = 0x766e746d;

/** Returns the schema's previous version if it was an older one; undefined for a new schema. */
export async function migrateNotes(client: ClientBase, schema: string): Promise<number | undefined> {
  if ((await versionOf(client, schema)) === migrations.length) return undefined;
  await client.query("BEGIN");
  try {
    await client.query("SELECT pg_advisory_xact_lock($1)", [lock]);
    const version = await versionOf(client, schema);
    if (version === 0) {
      const there = await client.query("SELECT 1 FROM pg_namespace WHERE nspname = $1", [schema]);
      if (there.rows.length === 0) await client.query(`CREATE SCHEMA ${schema}`);
      await client.query(`CREATE TABLE ${schema}.memory (version integer NOT NULL)`);
      await client.query(`INSERT INTO ${schema}.memory VALUES (0)`);
    }
    for (const migration of migrations.slice(version)) await client.query(migration.replaceAll("$.", `${schema}.`));
    await client.query(`UPDATE ${schema}.memory SET version = $1`, [migrations.length]);
    await client.query("COMMIT");
    return version === 0 || version === migrations.length ? undefined : version;
  } catch (thrown) {
    await client.query("ROLLBACK").catch(() => {}); // The connection may be what failed.
    throw thrown;
  }
}

/** 0 if there is no table yet. */
async function versionOf(client: ClientBase, schema: string): Promise<number> {
  const there = await client.query(
    "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'memory'",
    [schema],
  );
  if (there.rows.length === 0) return 0;
  const found = await client.query<{ version: number }>(`SELECT version FROM ${schema}.memory`);
  const version = found.rows[0]?.version ?? 0;
  if (version <= migrations.length) return version;
  throw new UnusableDatabase(
    `the memory in schema ${schema} was written by a newer Venturi (version ${version}, this one knows up to ${migrations.length}); update Venturi`,
  );
}
