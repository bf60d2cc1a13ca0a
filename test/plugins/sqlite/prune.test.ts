import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import type { SqliteJournal } from "../../../plugins/sqlite/journal.ts";
import { Pruning } from "../../../plugins/sqlite/pruning.ts";
import { Statements } from "../../../plugins/sqlite/statements.ts";
import { keyMemory } from "../../../src/core/journal/journal.ts";
import { claimed, enqueueing, eventsAfter, finish, put, text } from "../../../src/testing/journal-bench.ts";
import { freshFile, openFile, temporaryFolder } from "./folder.ts";

/** What the file holds of runs that are gone, and how many records in all. */
function left(file: string): { orphans: number; doomed: number; records: number } {
  const database = new DatabaseSync(file, { readOnly: true });
  const count = (query: string) => Number(database.prepare(query).get()?.n);
  const found = {
    orphans: count("SELECT count(*) AS n FROM records WHERE run NOT IN (SELECT id FROM runs)"),
    doomed: count("SELECT count(*) AS n FROM doomed"),
    records: count("SELECT count(*) AS n FROM records"),
  };
  database.close();
  return found;
}

/** Runs whose records lie side by side; returns their names. All but every `open`th have ended. */
async function sideBySide(journal: SqliteJournal, runs: number, records: number, open = 0): Promise<string[]> {
  const owned = await Promise.all(Array.from({ length: runs }, async () => (await claimed(journal)).ownership));
  for (let round = 0; round < records; round++) {
    const batch = owned.map((ownership) => ({ ownership, events: eventsAfter(ownership, [text(`word ${round} `)]) }));
    expect((await journal.append(batch)).size).to.equal(0);
    for (const ownership of owned) ownership.head += 1;
  }
  for (const [index, ownership] of owned.entries()) {
    if (open === 0 || index % open !== 0) await finish(journal, ownership);
  }
  return owned.map(({ run }) => run);
}

/** Stops after so many of its steps. */
async function pruneUpTo(journal: SqliteJournal, steps: number): Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  let count = 0;
  const reading = Object.defineProperty(signal, "aborted", { get: () => count++ >= steps });
  await journal.prune({ keep: 0, rest: 0, signal: reading });
}

describe("a prune of a SQLite journal", () => {
  const folder = temporaryFolder();

  it("keeps a hash of a removed run's key for a day", async () => {
    const file = freshFile(folder);
    const journal = await openFile(file);
    const { ownership } = await claimed(journal, { key: "ada@example.com" });
    await finish(journal, ownership);
    await journal.prune({ keep: 0 });
    expect((await journal.enqueue(enqueueing({ key: "ada@example.com" }))).existing).to.equal(true);
    const database = new DatabaseSync(file);
    const rows = database.prepare("SELECT * FROM removed_keys").all();
    expect(rows).to.have.length(1);
    expect(JSON.stringify(rows)).not.to.include("ada");
    database.exec(`UPDATE removed_keys SET removed_at = removed_at - ${keyMemory}`);
    expect((await journal.enqueue(enqueueing({ key: "ada@example.com" }))).existing).to.equal(false);
    await journal.prune({});
    expect(database.prepare("SELECT * FROM removed_keys").all()).to.have.length(0);
    database.close();
    await journal.close();
  });

  for (const [runs, records] of [
    [3, 1_300],
    [64, 10],
    [65, 10],
    [300, 12],
  ] as const) {
    it(`removes all records of ${runs} runs and none of those beside them`, async () => {
      const file = freshFile(folder);
      const journal = await openFile(file);
      const names = await sideBySide(journal, runs + Math.ceil(runs / 7), records, 8);
      const kept = names.filter((_, index) => index % 8 === 0);
      expect(await journal.prune({ keep: 0 })).to.equal(names.length - kept.length);
      for (const run of kept) {
        expect((await journal.read(run, 0, 10_000)).map(({ seq }) => seq)).to.have.length(records);
      }
      await journal.close();
      expect(left(file)).to.deep.equal({ orphans: 0, doomed: 0, records: kept.length * records });
    });
  }

  for (const runs of [20, 200]) {
    it(`that was stopped is finished by the next, with ${runs} runs`, async () => {
      let orphaned = 0;
      for (const steps of [1, 2, 3, 4, 6]) {
        const file = freshFile(folder);
        const journal = await openFile(file);
        await sideBySide(journal, runs, 40);
        await pruneUpTo(journal, steps);
        orphaned = Math.max(orphaned, left(file).orphans);
        const { ownership } = await claimed(journal);
        expect(await put(journal, ownership, [text("a"), text("b")])).to.equal(true);
        await journal.prune({ keep: 0 });
        expect((await journal.list({})).runs.map(({ run }) => run)).to.deep.equal([ownership.run]);
        expect(await journal.read(ownership.run, 0, 10)).to.have.length(2);
        await journal.close();
        expect(left(file), `after ${steps}`).to.deep.equal({ orphans: 0, doomed: 0, records: 1 });
      }
      expect(orphaned).to.be.above(0);
    });
  }

  it("concurrent with another process's prune removes everything it should and nothing else", async () => {
    const file = freshFile(folder);
    const [one, other] = [await openFile(file), await openFile(file)];
    const first = await sideBySide(one, 150, 20);
    const writing = sideBySide(other, 100, 30, 2);
    const counts = await Promise.all([
      one.prune({ runs: first.slice(0, 100) }),
      other.prune({ runs: first.slice(50) }),
    ]);
    expect(counts.reduce((sum, count) => sum + count, 0)).to.equal(150);
    for (const run of await writing) expect((await one.read(run, 0, 100)).length).to.be.within(30, 31);
    await Promise.all([one.prune({}), other.prune({})]);
    await one.close();
    await other.close();
    expect(left(file)).to.deep.equal({ orphans: 0, doomed: 0, records: 100 * 30 + 50 });
  });

  it("notices what another process has removed meanwhile", async () => {
    const file = freshFile(folder);
    const journal = await openFile(file);
    const names = await sideBySide(journal, 150, 20);
    await journal.close();
    const database = new DatabaseSync(file);
    const [one, other] = [new Pruning(new Statements(database)), new Pruning(new Statements(database))];
    const doom = (pruning: Pruning, sweeper: number, runs: readonly string[]) => {
      while (pruning.doom({ runs, olderThan: undefined, upTo: undefined }, sweeper, 500) > 0) {}
    };
    doom(one, 1, names.slice(0, 100));
    let sweep = one.begin(1, []);
    if (sweep !== undefined) sweep = one.sweep(sweep);
    expect(sweep?.after).to.be.within(1, 20 * 150);
    doom(other, 2, names.slice(100));
    while (sweep !== undefined) sweep = one.sweep(sweep);
    for (sweep = other.begin(2, []); sweep !== undefined; ) sweep = other.sweep(sweep);
    database.close();
    expect(left(file)).to.deep.equal({ orphans: 0, doomed: 0, records: 0 });
  });

  it("of one run by name does not do retention's work", async () => {
    const file = freshFile(folder);
    const journal = await openFile(file);
    await sideBySide(journal, 200, 40);
    await pruneUpTo(journal, 2);
    const { orphans } = left(file);
    expect(orphans).to.be.above(0);
    const { ownership } = await claimed(journal);
    await finish(journal, ownership);
    expect(await journal.prune({ runs: [ownership.run] })).to.equal(1);
    expect(left(file)).to.include({ orphans });
    await journal.prune({ keep: 0 });
    await journal.close();
    expect(left(file)).to.deep.equal({ orphans: 0, doomed: 0, records: 0 });
  });

  it("lets appends through between its steps", async () => {
    const file = freshFile(folder);
    const journal = await openFile(file);
    await sideBySide(journal, 400, 50);
    const { ownership } = await claimed(journal);
    let pruning = true;
    const pruned = journal.prune({ keep: 0, rest: 3 }).finally(() => {
      pruning = false;
    });
    let appends = 0;
    while (pruning && (await put(journal, ownership, [text("a")]))) appends++;
    expect(await pruned).to.equal(400);
    expect(appends).to.be.above(5);
    await journal.close();
    expect(left(file).orphans).to.equal(0);
  });
});
