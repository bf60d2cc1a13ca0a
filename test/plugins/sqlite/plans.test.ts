import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { migrate } from "../../../plugins/sqlite/schema.ts";
import * as sql from "../../../plugins/sqlite/sql.ts";
import { freshFile, openFile, temporaryFolder } from "./folder.ts";

/** Statements that may look at all rows: they run once in minutes, or ask for the newest of all. */
const mayScan = new Set(["findBoundary", "findUpTo", "forgetWorkers", "forgetBlobs", "listAudit"]);
const large = /^SCAN (r|e|q|d|s|runs|records|requests|signals|digests|wires)\b(?!.*INDEX runs_(failed|open))/;

const planOf = (database: DatabaseSync, statement: string): string[] =>
  database
    .prepare(`EXPLAIN QUERY PLAN ${statement}`)
    .all()
    .map(({ detail }) => String(detail));

describe("plans of the SQLite journal", () => {
  const folder = temporaryFolder();

  it("no statement that runs often reads a whole table, nor sorts it", () => {
    const database = new DatabaseSync(":memory:");
    migrate(database);
    const statements = Object.entries(sql).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string" && !mayScan.has(entry[0]),
    );
    expect(statements.length).to.be.above(30);
    for (const [name, statement] of statements) {
      const scans = planOf(database, statement).filter((line) => large.test(line));
      // `findWork` reads a subquery of at most 100 rows.
      expect(name === "findWork" ? [] : scans, name).to.deep.equal([]);
    }
    for (const query of [
      { tenant: "t" },
      { tenant: "t", session: "s" },
      { tenant: "t", cursor: "5" },
      { agent: "a" },
      { state: "running" },
      { waiting: true },
      { outcome: "failed" },
      { cursor: "5" },
    ] as const) {
      const scans = planOf(database, sql.listRuns(query)).filter((line) => large.test(line));
      expect(scans, JSON.stringify(query)).to.deep.equal([]);
    }
  });

  it("statistics that were taken when the file was small are dropped, before it is used and while it is", async () => {
    const file = freshFile(folder);
    const other = new DatabaseSync(file, { timeout: 5_000 });
    other.exec("PRAGMA journal_mode = WAL");
    migrate(other);
    // As ANALYZE leaves them in a file whose tables had a row each: every index is worth as much as none.
    const analyze = () => {
      other.exec("ANALYZE");
      const indexes = other.prepare(
        "SELECT name, tbl_name FROM sqlite_master WHERE type = 'index' AND tbl_name <> 'sqlite_stat1'",
      );
      for (const { name, tbl_name } of indexes.all())
        other.prepare("INSERT INTO sqlite_stat1 VALUES (?, ?, '1 1 1 1')").run(String(tbl_name), String(name));
      other.exec("ANALYZE sqlite_schema");
    };
    analyze();
    expect(planOf(other, sql.findRow).filter((line) => large.test(line))).not.to.deep.equal([]);
    const journal = await openFile(file);
    const gone = async () => {
      for (;;) {
        const fresh = new DatabaseSync(file, { timeout: 5_000 });
        const scans = planOf(fresh, sql.findRow).filter((line) => large.test(line));
        fresh.close();
        if (scans.length === 0) return;
        await journal.ping();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    await gone();
    analyze();
    await gone();
    await journal.close();
    other.close();
  });
});
