import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { migrate, migrations } from "../../../plugins/sqlite/schema.ts";
import { claimed, finish, put, text } from "../../../src/testing/journal-bench.ts";
import { freshFile, openFile, temporaryFolder } from "./folder.ts";

const applicationId = 0x766e7472;

/** Asked three times, answered once. */
const typeOf = (seq: number): string =>
  [7, 100, 300].includes(seq) ? "approval.requested" : seq === 120 ? "approval.resolved" : "text.delta";

describe("sqlite migrations", () => {
  const folder = temporaryFolder();

  for (let version = 0; version < migrations.length; version++) {
    it(`bring a file of version ${version} up to date, with what is in it`, async () => {
      const file = freshFile(folder);
      const old = new DatabaseSync(file);
      for (const migration of migrations.slice(0, version)) old.exec(migration);
      if (version > 0) {
        old.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version}`);
        const owner = version >= 5 ? { column: ", tenant", value: ", 'default'" } : { column: "", value: "" };
        old.exec(`INSERT INTO runs (run, agent, state, head, epoch, created_at, updated_at${owner.column}) VALUES
            ('old', 'a', 'done', 500, 1, 0, 0${owner.value}), ('other', 'a', 'running', 500, 1, 0, 0${owner.value}),
            ('empty', 'a', 'done', 0, 1, 0, 0${owner.value});
          INSERT INTO requests SELECT id, '{"agent":"a","input":{}}' FROM runs`);
        // Two runs by turns, in records of 1, 2, 3 and 4 events.
        const chained = version >= 3;
        const insert = old.prepare(
          chained
            ? "INSERT INTO records (previous, run, first, last, epoch, body) SELECT tail, ?, ?, ?, 1, ? FROM runs WHERE id = ?1"
            : "INSERT INTO records (run, first, last, epoch, body) VALUES (?, ?, ?, 1, ?)",
        );
        const advance = chained ? old.prepare("UPDATE runs SET tail = last_insert_rowid() WHERE id = ?") : undefined;
        old.exec("BEGIN");
        for (let first = 1, count = 1; first <= 500; first += count, count = (count % 4) + 1) {
          const body = Array.from({ length: count }, (_, index) =>
            JSON.stringify({ type: typeOf(first + index), seq: first + index }),
          ).join("\n");
          for (const run of [1, 2]) {
            insert.run(run, first, first + count - 1, body);
            advance?.run(run);
          }
        }
        old.exec("COMMIT");
      }
      old.close();
      const journal = await openFile(file);
      const seqs = (await journal.read("old", 0, 1_000)).map((event) => event.seq);
      expect(seqs).to.deep.equal(version > 0 ? Array.from({ length: 500 }, (_, index) => index + 1) : []);
      if (version > 0) {
        expect((await journal.read("other", 321, 2)).map((event) => event.seq)).to.deep.equal([322, 323]);
        expect(await journal.read("empty", 0, 10)).to.deep.equal([]);
        if (version < 6) expect((await journal.get("other"))?.asking).to.equal(2);
        expect(await journal.prune({ keep: 0 })).to.equal(2);
        expect(await journal.read("other", 0, 1_000)).to.have.length(500);
      }
      const { ownership } = await claimed(journal);
      expect(await put(journal, ownership, [text("a")])).to.equal(true);
      await journal.keepWire(ownership.run, { round: 1, attempt: 1, wire: "w", bytes: new Uint8Array([1]) });
      expect(await finish(journal, ownership)).to.equal(true);
      await journal.close();
      const now = new DatabaseSync(file);
      expect(now.prepare("PRAGMA user_version").get()?.user_version).to.equal(migrations.length);
      now.close();
    });
  }

  it("give every run an owner: the caller whose key started it, or `default`", async () => {
    const file = freshFile(folder);
    const old = new DatabaseSync(file);
    for (const migration of migrations.slice(0, 3)) old.exec(migration);
    old.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = 3`);
    old.exec(`INSERT INTO runs (run, key, session, agent, state, created_at, updated_at) VALUES
        ('keyed', 'ada:k:1', 's', 'a', 'ready', 0, 0), ('plain', NULL, 's', 'a', 'ready', 0, 0),
        ('open', 'anyone:k:1', NULL, 'a', 'done', 0, 0), ('sub', 'agent:run_1:call_1', NULL, 'a', 'done', 0, 0),
        ('gone', NULL, NULL, 'a', 'done', 0, 0);
      INSERT INTO requests SELECT id, '{"agent":"a","input":{}}' FROM runs; DELETE FROM runs WHERE run = 'gone'`);
    old.close();
    const journal = await openFile(file);
    const { runs } = await journal.list({ oldestFirst: true });
    expect(runs.map(({ run, tenant }) => [run, tenant])).to.deep.equal([
      ["keyed", "ada"],
      ["plain", "default"],
      ["open", "default"],
      ["sub", "default"],
    ]);
    const request = { agent: "a", input: {} };
    const again = async (tenant: string, key: string) =>
      (await journal.enqueue({ run: `new-${tenant}-${key}`, tenant, session: undefined, request, key })).run;
    expect(await again("ada", "caller:k:1")).to.equal("keyed");
    expect(await again("default", "caller:k:1")).to.equal("open");
    expect(await again("default", "agent:run_1:call_1")).to.equal("sub");
    expect(await again("bob", "caller:k:1")).to.equal("new-bob-caller:k:1");
    // The session of that name was shared; now each has its own part of it.
    expect((await journal.claim("w", 10)).map(({ ownership }) => ownership.run)).to.include.members(["keyed", "plain"]);
    await journal.close();
    const now = new DatabaseSync(file);
    expect(Number(now.prepare("SELECT id FROM runs WHERE run LIKE 'new-%'").get()?.id)).to.equal(6);
    now.close();
  });

  it("the audit can be added to, and not changed", async () => {
    const file = freshFile(folder);
    const journal = await openFile(file);
    await journal.audit({ action: "a", by: "b" });
    await journal.close();
    const database = new DatabaseSync(file);
    for (const attempt of ["UPDATE audit SET actor = 'x'", "DELETE FROM audit"]) {
      expect(() => database.exec(attempt)).to.throw("append-only");
    }
    database.close();
  });

  it("a process of version 2 that is still running can no longer append", async () => {
    const file = freshFile(folder);
    const old = new DatabaseSync(file);
    for (const migration of migrations.slice(0, 2)) old.exec(migration);
    old.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = 2`);
    const insert = old.prepare("INSERT INTO records (run, first, last, epoch, body) VALUES (1, ?, ?, 1, '{}')");
    insert.run(1, 1);
    await (await openFile(file)).close();
    expect(() => insert.run(2, 2)).to.throw("NOT NULL constraint failed: records.previous");
    old.close();
  });

  it("a file of a newer version is refused, and left as it is", async () => {
    const file = freshFile(folder);
    const newer = new DatabaseSync(file);
    migrate(newer);
    newer.exec(`PRAGMA user_version = ${migrations.length + 1}`);
    newer.close();
    const error = await openFile(file).catch((thrown) => thrown);
    expect(error).to.include({ code: "journal_failed" });
    expect(error.message).to.match(/newer Venturi \(journal version \d+, this one knows up to \d+\); update Venturi/);
  });

  it("a database of something else is refused", async () => {
    const file = freshFile(folder);
    const other = new DatabaseSync(file);
    other.exec("CREATE TABLE customers (name TEXT)");
    other.close();
    const error = await openFile(file).catch((thrown) => thrown);
    expect(error.message).to.include("a database of something else");
  });
});
