import { DatabaseSync } from "node:sqlite";
import { migrations } from "../../../plugins/sqlite/schema.ts";
import { claimed } from "../../../src/testing/journal-bench.ts";
import { expectSums, oldRuns } from "../sums.ts";
import { freshFile, openFile, temporaryFolder } from "./folder.ts";

const before = migrations.findIndex((migration) => migration.includes("CREATE TABLE sums"));
const from = Date.UTC(2026, 0, 31, 23);

describe("sqlite sums", () => {
  const folder = temporaryFolder();

  it("are filled from the digests of a file of the version before, and stay right while a process of that version goes on", async () => {
    const file = freshFile(folder);
    const old = new DatabaseSync(file);
    for (const migration of migrations.slice(0, before)) old.exec(migration);
    old.exec(`PRAGMA application_id = ${0x766e7472}; PRAGMA user_version = ${before}`);
    const runs = oldRuns(60, from);
    const put =
      old.prepare(`INSERT INTO runs (id, run, tenant, agent, caller, state, outcome, created_at, updated_at, ended_at)
      VALUES (?, ?, ?, ?, ?, 'done', ?, ?, 0, 0)`);
    const ask = old.prepare("INSERT INTO requests (run, request) VALUES (?, ?)");
    const keep = old.prepare(
      "REPLACE INTO digests (run, ms, code, cost, tools, models, digest) VALUES (?, ?, ?, ?, '[]', ?, ?)",
    );
    const end = (run: (typeof runs)[number]) => {
      put.run(run.n, `old-${run.n}`, run.tenant, run.agent, run.caller, run.outcome, run.at);
      ask.run(run.n, run.request);
    };
    const digest = ({ n, ms, code, cost, models, digest }: (typeof runs)[number]) =>
      keep.run(n, ms, code, cost, models, digest);
    for (const run of runs.slice(0, 50)) {
      end(run);
      digest(run);
    }
    const journal = await openFile(file);
    await expectSums(journal, 50, from);
    for (const run of runs.slice(50)) {
      end(run);
      digest(run);
      digest(run);
    }
    for (const statement of ["DELETE FROM digests WHERE run % 7 = 1", "DELETE FROM runs WHERE id % 7 = 1"])
      old.exec(statement);
    old.close();
    await claimed(journal);
    await expectSums(journal, 51, from);
    await journal.prune({ keep: 0 });
    await expectSums(journal, 0, from);
    await journal.close();
  });
});
