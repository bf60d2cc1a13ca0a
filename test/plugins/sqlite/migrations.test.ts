import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { migrate, migrations } from "../../../plugins/sqlite/schema.ts";
import { claimed, finish, put, text } from "../../../src/testing/journal-bench.ts";
import { freshFile, openFile, temporaryFolder } from "./folder.ts";

const applicationId = 0x766e7472;

describe("sqlite migrations", () => {
  const folder = temporaryFolder();

  for (let version = 0; version < migrations.length; version++) {
    it(`bring a file of version ${version} up to date, with what is in it`, async () => {
      const file = freshFile(folder);
      const old = new DatabaseSync(file);
      for (const migration of migrations.slice(0, version)) old.exec(migration);
      if (version > 0) {
        old.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version}`);
        old.exec(`INSERT INTO runs (run, agent, state, head, epoch, created_at, updated_at) VALUES ('old', 'a', 'done', 1, 1, 0, 0);
          INSERT INTO requests VALUES (1, '{"agent":"a","input":{}}');
          INSERT INTO records (run, first, last, epoch, body) VALUES (1, 1, 1, 1, '{"type":"text.delta","run":"old","seq":1,"at":0,"round":1,"text":"x"}')`);
      }
      old.close();
      const journal = await openFile(file);
      expect(await journal.read("old", 0, 10)).to.have.length(version > 0 ? 1 : 0);
      const { attempt } = await claimed(journal);
      expect(await put(journal, attempt, [text("a")])).to.equal(true);
      await journal.keepWire(attempt.run, 1, 1, "w", new Uint8Array([1]));
      expect(await finish(journal, attempt)).to.equal(true);
      await journal.close();
      const now = new DatabaseSync(file);
      expect(now.prepare("PRAGMA user_version").get()?.user_version).to.equal(migrations.length);
      now.close();
    });
  }

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
