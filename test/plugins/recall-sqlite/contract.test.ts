import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import plugin from "../../../plugins/recall-sqlite/index.ts";
import { NotesInSqlite } from "../../../plugins/recall-sqlite/notes.ts";
import { memoryContract } from "../../../src/testing/memory.ts";
import { testPluginContext } from "../../../src/testing/tool-call.ts";
import { testFolder } from "../../host/folder.ts";

describe("notes in SQLite", () => {
  const folder = testFolder();
  let count = 0;
  let file = "";
  const openAgain = async () => new NotesInSqlite({ file, busyTimeout: 5_000 });
  const openNew = () => {
    file = folder.path(`notes-${++count}.db`);
    return openAgain();
  };
  memoryContract("sqlite", { open: openNew, reopen: openAgain });

  const place = { tenant: "t", scope: "user" as const, owner: "ana" };
  const note = { id: "a", text: "Zugangswort xylophon", at: 1, scope: "user" as const, owner: "ana" };

  it("leaves nothing of an erased or replaced note in its files", async () => {
    const store = await openNew();
    const bytes = () => ["", "-wal"].map((end) => readFileSync(`${file}${end}`, "latin1")).join("");
    const vector = { model: "m", values: Float32Array.from([0.6, 0.8]) };
    await store.put({ tenant: "t", note, most: 9, existing: "keep", vector });
    expect(bytes()).to.contain("xylophon");
    await store.erase(place);
    expect(bytes()).to.not.contain("xylophon").and.not.contain("Zugangswort").and.not.contain("zugangswort");
    await store.close();
  });

  it("refuses a file of something else, and one of a newer Venturi, with the reason", async () => {
    for (const [made, reason] of [
      ["CREATE TABLE a (b)", "something else"],
      ["PRAGMA user_version = 99", "newer Venturi"],
    ]) {
      const path = folder.path(`other-${++count}.db`);
      const other = new DatabaseSync(path);
      other.exec(made ?? "");
      other.close();
      const context = testPluginContext({ folder: folder.path("") });
      const opened = Promise.resolve(plugin.create(plugin.options.parse({ path }), context));
      const thrown = await opened.then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(thrown).to.include({ op: "memory.open", code: "unavailable" });
      expect(String(thrown)).to.contain(reason);
    }
  });

  it("is there after a restart, and refuses once it is closed", async () => {
    const store = await openNew();
    await store.put({ tenant: "t", note, most: 9, existing: "keep" });
    await store.close();
    const again = await openAgain();
    expect(await again.get(place, "a")).to.deep.equal(note);
    await again.close();
    const late = await again.get(place, "a").catch((error: unknown) => error);
    expect(late).to.include({ code: "unavailable" });
  });
});
