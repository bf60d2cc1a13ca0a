import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { MemoryJournal } from "../../../plugins/memory/journal.ts";
import { SqliteJournal } from "../../../plugins/sqlite/journal.ts";
import { systemClock } from "../../../src/core/ports/clock.ts";
import { findResponse, keepResponse } from "../../../src/journal/kept-responses.ts";
import { changeNotes, notesOf, pruneRuns } from "../../../src/journal/notes.ts";
import { claimed, finish, put, text } from "../../../src/testing/journal-bench.ts";

const bin = fileURLToPath(new URL("../../../src/cli/bin.js", import.meta.url));
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

describe("a run whose erasure was cut off", () => {
  const folder = mkdtempSync(join(tmpdir(), "venturi-erase-"));
  const children: ChildProcess[] = [];

  after(async () => {
    await Promise.all(children.map(kill));
    rmSync(folder, { recursive: true, force: true });
  });

  it("leaves no record once the service is started again, also without retention", async () => {
    // A kill that comes after the last record is tried again with another file.
    for (let tries = 1; !(await killedInTheMiddle(tries)); tries++) expect(tries).to.be.below(20);
  });

  it("is still there for the next request, until nothing else is left of it", async () => {
    const journal = new MemoryJournal({ clock: systemClock, keep: 10, lease: 10_000 });
    const { ownership } = await claimed(journal);
    await finish(journal, ownership);
    const { run } = ownership;
    const row = (await journal.get(run)) ?? expect.fail("no run");
    await changeNotes(journal, row, (notes) => ({ ...notes, scores: { good: 1 } }));
    await keepResponse(journal.keyValues, { run, key: "hash" }, "answer");
    const cut = Object.assign(Object.create(journal), {
      get: journal.get.bind(journal),
      keyValues: journal.keyValues,
      prune: () => Promise.reject(new Error("killed")),
    });
    await pruneRuns(cut, { runs: [run] }, systemClock).catch(() => {});
    expect(await journal.get(run)).to.include({ state: "done" });
    expect(await notesOf(journal, row)).to.deep.equal({ run, feedback: [] });
    expect(await findResponse(journal.keyValues, "hash")).to.equal(undefined);
    expect(await pruneRuns(journal, { runs: [run] }, systemClock)).to.equal(1);
  });

  async function killedInTheMiddle(tries: number): Promise<boolean> {
    const file = join(folder, `runs-${tries}.db`);
    const config = join(folder, `venturi-${tries}.yaml`);
    writeFileSync(
      config,
      JSON.stringify({
        version: 1,
        dataFolder: folder,
        providers: { demo: { type: "simulator" } },
        agents: { a: { model: "demo/small" } },
        journal: { type: "sqlite", path: file },
        server: { listen: 0 },
        channels: { http: {} },
      }),
    );
    const run = await largeRun(file);
    const first = await started(config);
    const database = new DatabaseSync(file, { readOnly: true });
    const count = (table: string) => Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n);
    try {
      const erasing = fetch(`${first.url}/v1/runs/${run}`, { method: "DELETE" }).catch(() => undefined);
      while (count("runs") > 0) await pause(1);
      await kill(first.child);
      await erasing;
      const left = count("records");
      const second = await started(config);
      expect((await fetch(`${second.url}/v1/runs/${run}`)).status).to.equal(404);
      while (count("records") > 0) await pause(20);
      expect(count("doomed")).to.equal(0);
      await kill(second.child);
      return left > 0;
    } finally {
      database.close();
    }
  }

  async function started(config: string): Promise<{ child: ChildProcess; url: string }> {
    const child = spawn(process.execPath, ["--no-warnings", bin, "--config", config, "start"]);
    children.push(child);
    let words = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (bytes) => {
        words += bytes;
      });
    }
    for (;;) {
      const url = /listening on (http:\S+)/.exec(words)?.[1] ?? /"url":"(http:[^"]+)"/.exec(words)?.[1];
      if (url !== undefined) return { child, url };
      if (child.exitCode !== null) throw new Error(`it ended: ${words}`);
      await pause(10);
    }
  }
});

async function largeRun(file: string): Promise<string> {
  const journal = new SqliteJournal({ file, lease: 30_000, busyTimeout: 1_000, watch: 1_000 });
  const { ownership } = await claimed(journal);
  for (let n = 0; n < 2_000; n++) await put(journal, ownership, [text(`${n} ${"x".repeat(4_000)}`)]);
  await finish(journal, ownership);
  await journal.close();
  return ownership.run;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}
