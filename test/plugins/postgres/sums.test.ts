import { Client } from "pg";
import { migrations } from "../../../plugins/postgres/migrations.ts";
import { expectSums, type OldRun, oldRuns } from "../sums.ts";
import { openJournal } from "./open.ts";
import { freshSchema, sharedCluster } from "./shared.ts";

const before = migrations.findIndex((migration) => migration.includes("CREATE TABLE $.sums"));
const from = Date.UTC(2026, 0, 31, 23);

describe("postgres sums", () => {
  it("are filled from the digests of a schema of the version before, and stay right while a replica of that version goes on", async () => {
    const { url } = await sharedCluster();
    const schema = freshSchema();
    const client = new Client(url);
    await client.connect();
    await client.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.journal (version integer NOT NULL)`);
    await client.query(`INSERT INTO ${schema}.journal VALUES (${before})`);
    for (const migration of migrations.slice(0, before)) await client.query(migration.replaceAll("$.", `${schema}.`));
    const end = ({ n, tenant, agent, caller, outcome, request, at }: OldRun) =>
      client.query(
        `INSERT INTO ${schema}.runs (id, run, tenant, agent, caller, request, state, outcome, created_at) OVERRIDING SYSTEM VALUE
          VALUES ($1, $2, $3, $4, $5, $6, 'done', $7, to_timestamp($8::float8 / 1000))`,
        [n, `old-${n}`, tenant, agent, caller, request, outcome, at],
      );
    const digest = ({ n, ms, code, cost, models, digest: kept }: OldRun) =>
      client.query(
        `INSERT INTO ${schema}.digests (run, ms, code, cost, tools, models, digest) VALUES ($1, $2, $3, $4, '[]', $5, $6)
          ON CONFLICT (run) DO UPDATE SET ms = excluded.ms, digest = excluded.digest`,
        [n, ms, code, cost, models, kept],
      );
    const runs = oldRuns(60, from);
    for (const run of runs.slice(0, 50)) {
      await end(run);
      await digest(run);
    }
    const journal = openJournal(url, schema);
    await expectSums(journal, 50, from);
    for (const run of runs.slice(50)) {
      await end(run);
      await digest(run);
      await digest(run);
    }
    await client.query(`WITH gone AS (DELETE FROM ${schema}.runs WHERE id % 7 = 1 RETURNING id)
      DELETE FROM ${schema}.digests WHERE run IN (SELECT id FROM gone)`);
    await client.end();
    await expectSums(journal, 51, from);
    await journal.prune({ olderThan: 0, keep: 0 });
    await expectSums(journal, 0, from);
    await journal.close();
  });
});
