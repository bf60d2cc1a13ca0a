import { Client } from "pg";
import { journalContract } from "../../../src/testing/journal.ts";
import { openJournal } from "./open.ts";
import { freshSchema, sharedCluster } from "./shared.ts";

/**
 * Each test has an empty journal in one cluster: in a schema of its own, or, without a pooler, in the one before it, emptied. To
 * make the tables anew took half of the server's time.
 */
export function postgresContract(name: string, { pooler }: { readonly pooler: boolean }): void {
  let schema = "";
  journalContract(name, {
    async open(options) {
      const { url } = await sharedCluster();
      if (schema === "" || pooler) schema = freshSchema();
      else await empty(url, schema);
      const journal = openJournal(url, schema, { ...options, pooler });
      await journal.ping();
      return journal;
    },
    reopen: async (options) => openJournal((await sharedCluster()).url, schema, { ...options, pooler }),
  });
}

/** Leaves what migrations put in. */
async function empty(url: string, schema: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const filled = ["journal", "sum_spans", "sum_floors"];
    const { rows } = await client.query<{ names: string }>(
      "SELECT string_agg(format('%I.%I', schemaname, tablename), ', ') AS names FROM pg_tables WHERE schemaname = $1 AND tablename <> ALL($2)",
      [schema, filled],
    );
    await client.query("SET session_replication_role = replica"); // no trigger: the audit lets nobody empty it
    await client.query(`TRUNCATE ${rows[0]?.names} RESTART IDENTITY`);
  } finally {
    await client.end();
  }
}
