import type { ClientBase } from "pg";
import { migrations } from "./migrations.ts";

/** A permanently unusable database; the message is for people. */
export class UnusableDatabase extends Error {}

/** "vntr": advisory lock against concurrent migrations. */
const lock = 0x766e7472;

/** A migration of millions of rows takes longer than any other statement may, ms. */
const migrationTime = 3_600_000;

/** Returns the schema's previous version if it was an older one; undefined for a new schema. */
export async function migrate(client: ClientBase, schema: string): Promise<number | undefined> {
  if ((await versionOf(client, schema)) === migrations.length) return undefined;
  await client.query("BEGIN");
  try {
    await client.query("SELECT pg_advisory_xact_lock($1)", [lock]);
    // Checked again under the lock.
    const version = await versionOf(client, schema);
    if (version < 0) await prepare(client, schema);
    for (const migration of migrations.slice(Math.max(0, version))) {
      const statement = { text: migration.replaceAll("$.", `${schema}.`), query_timeout: migrationTime };
      await client.query(statement);
    }
    await client.query(`UPDATE ${schema}.journal SET version = $1`, [migrations.length]);
    await client.query("COMMIT");
    return version < 1 || version === migrations.length ? undefined : version;
  } catch (thrown) {
    await client.query("ROLLBACK").catch(() => {}); // The connection may be what failed.
    throw thrown;
  }
}

/** -1 if there is no schema yet. */
async function versionOf(client: ClientBase, schema: string): Promise<number> {
  // Not to_regclass: it may use a cache that does not include what another replica just created.
  const there = await client.query(
    "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'journal'",
    [schema],
  );
  if (there.rows.length === 0) return -1;
  const found = await client.query<{ version: number }>(`SELECT version FROM ${schema}.journal`);
  const version = found.rows[0]?.version ?? 0;
  if (version > migrations.length) {
    throw new UnusableDatabase(
      `the journal in schema ${schema} was written by a newer Venturi (journal version ${version}, this one knows up to ${migrations.length}); update Venturi`,
    );
  }
  return version;
}

async function prepare(client: ClientBase, schema: string): Promise<void> {
  const there = await client.query("SELECT 1 FROM pg_namespace WHERE nspname = $1", [schema]);
  if (there.rows.length === 0) await client.query(`CREATE SCHEMA ${schema}`);
  await client.query(`CREATE TABLE ${schema}.journal (version integer NOT NULL)`);
  await client.query(`INSERT INTO ${schema}.journal VALUES (0)`);
}
