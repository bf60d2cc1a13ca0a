import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import pg from "pg";
import { SqliteJournal } from "../../plugins/sqlite/journal.ts";
import type { Journal } from "../../src/core/journal/journal.ts";
import { openJournal } from "../plugins/postgres/open.ts";
import { freshSchema, sharedCluster } from "../plugins/postgres/shared.ts";
import { venturi } from "./venturi.ts";

const bin = fileURLToPath(new URL("../../src/cli/bin.js", import.meta.url));
const lease = 100;
const run = "run_imported";
const events = 500;

describe("venturi import, killed in the middle", function () {
  this.timeout(180_000);
  const folder = mkdtempSync(join(tmpdir(), "venturi-import-"));
  const recording = join(folder, "run.ndjson");

  before(() => writeFileSync(recording, recorded()));
  after(() => rmSync(folder, { recursive: true, force: true }));

  const configOf = (name: string, journal: object): string => {
    const file = join(folder, `${name}.yaml`);
    writeFileSync(file, JSON.stringify({ version: 1, dataFolder: folder, journal, telemetry: "off" }));
    return file;
  };

  it("leaves nothing in sqlite, and works the second time", async () => {
    // The file cannot be held up in the middle of a transaction: a kill that comes too late finds all of it, and is tried again.
    for (let tries = 1; !(await killedInSqlite(tries)); tries++) expect(tries).to.be.below(20);
  });

  it("leaves nothing in postgres, and works the second time", async () => {
    const { url } = await sharedCluster();
    const schema = freshSchema();
    const config = configOf("postgres", { type: "postgres", url, schema });
    const journal = openJournal(url, schema, { lease });
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    try {
      await journal.ping();
      await other.query(`BEGIN; LOCK TABLE ${schema}.wires IN EXCLUSIVE MODE`);
      const child = importing(config);
      const waiting = `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = '${schema}.wires'::regclass`;
      while ((await other.query(waiting)).rows.length === 0) await pause(5);
      await nothingThere(journal);
      await kill(child);
      await other.query("ROLLBACK");
      await nothingThere(journal);
      await importAgain(config, journal);
    } finally {
      await other.end();
      await journal.close();
    }
  });

  /** Whether the kill came before the commit. */
  async function killedInSqlite(tries: number): Promise<boolean> {
    const file = join(folder, `runs-${tries}.db`);
    const config = configOf("sqlite", { type: "sqlite", path: file });
    const journal = new SqliteJournal({ file, lease, busyTimeout: 5_000, watch: 50 });
    try {
      await journal.ping();
      const empty = statSync(`${file}-wal`).size;
      const child = importing(config);
      // Past what its cache holds a transaction goes to the log before it is committed.
      while (statSync(`${file}-wal`).size < empty + 500_000) await pause(1);
      await kill(child);
      const found = await journal.get(run);
      if (found !== undefined) {
        expect(found).to.include({ state: "done", outcome: "finished", head: events });
        return false;
      }
      await nothingThere(journal);
      await importAgain(config, journal);
      return true;
    } finally {
      await journal.close();
    }
  }

  const importing = (config: string): ChildProcess =>
    spawn(process.execPath, ["--no-warnings", bin, "import", recording, "--config", config], { stdio: "ignore" });

  async function importAgain(config: string, journal: Journal): Promise<void> {
    const again = await venturi(["import", recording, "--config", config]);
    expect([again.exit, again.out], again.err).to.deep.equal([0, `${run}\n`]);
    expect(await journal.get(run)).to.include({ state: "done", outcome: "finished", head: events });
    expect(await journal.wire?.(run)).to.have.length(wires);
    expect(await journal.claim("worker", 10)).to.deep.equal([]);
  }
});

const wires = 60;

function recorded(): string {
  const timing = {
    providerWait: 0,
    providerStream: 0,
    retryWait: 0,
    tool: 0,
    approval: 0,
    client: 0,
    stalled: 0,
    runtime: 0,
  };
  const end = { type: "run.finished", finish: "stop", output: "", usage: {}, rounds: 1, timing };
  const bytes = Buffer.alloc(100_000, "x").toString("base64");
  const event = (seq: number) => ({
    ...(seq === events ? end : { type: "text.delta", round: 1, text: "x" }),
    run,
    seq,
    at: seq,
  });
  const request = { agent: "a", input: { text: "hi" } };
  const lines = [
    { venturi: "run", version: 1, run, createdAt: 1, request },
    { signal: { number: 1, id: "s", kind: "message", body: {} } },
    ...Array.from({ length: wires }, (_, index) => ({
      wire: { round: index, attempt: 1, wire: "openai-chat", bytes },
    })),
    ...Array.from({ length: events }, (_, index) => ({ event: event(index + 1) })),
  ];
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}

/** Also once every lease has run out. */
async function nothingThere(journal: Journal): Promise<void> {
  expect(await journal.get(run)).to.equal(undefined);
  await pause(2 * lease);
  expect(await journal.claim("worker", 10)).to.deep.equal([]);
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
