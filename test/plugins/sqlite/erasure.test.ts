import { existsSync, readFileSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { SqliteJournal } from "../../../plugins/sqlite/journal.ts";
import { migrate, migrations } from "../../../plugins/sqlite/schema.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { claimed, finish, put, text } from "../../../src/testing/journal-bench.ts";
import { freshFile, openFile, temporaryFolder } from "./folder.ts";

describe("sqlite, after a run was removed by name", () => {
  const folder = temporaryFolder();
  const secret = "correct-horse-battery-staple";

  it("has nothing of it in the file or in its log, while another run goes on", async () => {
    const file = freshFile(folder);
    const journal = await openFile(file);
    const other = await claimed(journal);
    const doomed = await claimed(journal, { request: { agent: "a", input: { text: secret } } });
    for (let n = 0; n < 50; n++) {
      await put(journal, doomed.ownership, [text(`${secret} ${n} ${"x".repeat(2_000)}`)]);
      await put(journal, other.ownership, [text("hello")]);
    }
    await finish(journal, doomed.ownership);
    expect(readFileSync(`${file}-wal`).includes(secret)).to.equal(true);
    expect(await journal.prune({ runs: [doomed.ownership.run] })).to.equal(1);
    expect(readFileSync(file).includes(secret)).to.equal(false);
    if (existsSync(`${file}-wal`)) expect(readFileSync(`${file}-wal`).includes(secret)).to.equal(false);
    await put(journal, other.ownership, [text("and on")]);
    expect((await journal.get(other.ownership.run))?.head).to.equal(51);
    await journal.close();
  });

  it("has nothing of it although a sweep for leftovers begins meanwhile", async () => {
    const file = freshFile(folder);
    const journal = await openFile(file);
    const { ownership } = await claimed(journal);
    for (let n = 0; n < 1_500; n++) await put(journal, ownership, [text(`${secret} ${n} ${"x".repeat(2_000)}`)]);
    await finish(journal, ownership);
    const stopping = new AbortController();
    const erasing = journal.prune({ runs: [ownership.run] });
    const reader = new DatabaseSync(file, { readOnly: true });
    const doomed = reader.prepare("SELECT count(*) AS n FROM doomed");
    while (doomed.get()?.n === 0) await new Promise((resolve) => setImmediate(resolve));
    const sweeping = journal.prune({ rest: 1_000, signal: stopping.signal });
    expect(await erasing).to.equal(1);
    expect(reader.prepare("SELECT count(*) AS n FROM records").get()).to.include({ n: 0 });
    stopping.abort();
    await sweeping;
    reader.close();
    await journal.close();
  });

  const filled = async (journal: SqliteJournal, records: number): Promise<string> => {
    const { ownership } = await claimed(journal);
    for (let n = 0; n < records; n++) await put(journal, ownership, [text(`${secret} ${n} ${"x".repeat(2_000)}`)]);
    await finish(journal, ownership);
    return ownership.run;
  };
  const begun = async (file: string): Promise<DatabaseSync> => {
    const reader = new DatabaseSync(file, { readOnly: true });
    const doomed = reader.prepare("SELECT count(*) AS n FROM doomed");
    while (doomed.get()?.n === 0) await new Promise((resolve) => setImmediate(resolve));
    return reader;
  };

  it("has nothing of it when it returns, although another process sweeps meanwhile", async () => {
    const file = freshFile(folder);
    const [journal, other] = [await openFile(file), await openFile(file)];
    const run = await filled(journal, 1_500);
    const erasing = journal.prune({ runs: [run] });
    const reader = await begun(file);
    const stopping = new AbortController();
    const sweeping = other.prune({ rest: 1_000, signal: stopping.signal });
    expect(await erasing).to.equal(1);
    expect(reader.prepare("SELECT count(*) AS n FROM records").get()).to.include({ n: 0 });
    reader.close();
    stopping.abort();
    await sweeping;
    expect(readFileSync(file).includes(secret)).to.equal(false);
    await journal.close();
    await other.close();
  });

  it("has nothing of it after the next prune, if it was cut off", async () => {
    const file = freshFile(folder);
    const journal = await openFile(file);
    const run = await filled(journal, 1_500);
    const stopping = new AbortController();
    const erasing = journal.prune({ runs: [run], signal: stopping.signal });
    (await begun(file)).close();
    stopping.abort();
    await erasing;
    expect(readFileSync(file).includes(secret)).to.equal(true);
    await journal.prune({});
    for (const path of [file, `${file}-wal`]) expect(readFileSync(path).includes(secret), path).to.equal(false);
    await journal.close();
  });

  it("has nothing of it although another removal ends meanwhile", async () => {
    const file = freshFile(folder);
    const journal = await openFile(file);
    const [small, large] = [await filled(journal, 1), await filled(journal, 3_000)];
    const erasing = journal.prune({ runs: [large] });
    await journal.prune({ runs: [small] });
    await erasing;
    expect(readFileSync(file).includes(secret)).to.equal(false);
    await journal.close();
  });

  it("succeeds while another process reads, and reports what is left", async () => {
    const file = freshFile(folder);
    const lines: string[] = [];
    const log = { ...silentLog, warn: (message: string) => void lines.push(message) };
    const journal = new SqliteJournal({ file, lease: 30_000, busyTimeout: 1_000, watch: 1_000 }, log);
    const doomed = await claimed(journal);
    await finish(journal, doomed.ownership);
    const reader = new DatabaseSync(file);
    reader.exec("BEGIN; SELECT * FROM runs");
    reader.prepare("SELECT count(*) FROM runs").get();
    expect(await journal.prune({ runs: [doomed.ownership.run] })).to.equal(1);
    expect(lines.join()).to.include("until readers let go of it");
    reader.close();
    await journal.close();
    expect(statSync(file).size).to.be.above(0);
  });
});

describe("a file of an earlier version", () => {
  const folder = temporaryFolder();

  it("is migrated with a line in the log; a new one and a current one without", async () => {
    const file = freshFile(folder);
    const old = new DatabaseSync(file);
    for (const migration of migrations.slice(0, 5)) old.exec(migration);
    old.exec(`PRAGMA application_id = ${0x766e7472}; PRAGMA user_version = 5`);
    old.close();
    const lines: unknown[] = [];
    const log = { ...silentLog, info: (message: string, fields?: object) => void lines.push({ message, ...fields }) };
    for (const path of [file, file, freshFile(folder)]) {
      const journal = new SqliteJournal({ file: path, lease: 30_000, busyTimeout: 1_000, watch: 1_000 }, log);
      await journal.ping();
      await journal.close();
    }
    expect(lines).to.deep.equal([{ message: "the journal was migrated", from: 5, to: migrations.length, file }]);
    const fresh = new DatabaseSync(":memory:");
    expect(migrate(fresh)).to.equal(undefined);
  });
});
