import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { SqliteJournal } from "../../plugins/sqlite/journal.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { exportRun } from "../../src/journal/export.ts";
import { importRun } from "../../src/journal/import.ts";
import { claimed, finished, memory, started } from "../journal/setup.ts";
import { ours } from "./parsers.ts";
import type { Target } from "./target.ts";
import { hurt, wounds } from "./values.ts";

const open = (file: string) => new SqliteJournal({ file, lease: 1_000, busyTimeout: 200, watch: 1_000 });

/** A file of a few runs, whole. */
async function sample(file: string): Promise<string> {
  const journal = open(file);
  let run = "";
  for (let count = 0; count < 5; count++) {
    const { ownership } = await claimed(journal);
    run = ownership.run;
    const events = [started(), finished("done")].map(
      (body, index) => ({ ...body, run, seq: index + 1, at: 1 }) as RunEvent,
    );
    await journal.append([{ ownership, events, state: "done" }]);
  }
  await journal.close();
  return run;
}

export const journalFiles = async (folder: string): Promise<Target> => {
  const whole = join(folder, "whole.db");
  await sample(whole);
  let count = 0;
  return {
    name: "journal files",
    property: () =>
      fc.asyncProperty(wounds, async (cuts) => {
        const file = join(folder, `hurt-${count++ % 4}.db`);
        copyFileSync(whole, file);
        // Bytes are changed in place: one that is moved is found at the first page and tries nothing further.
        const bytes = readFileSync(file);
        for (const { at, put } of cuts) bytes.set(Buffer.from(put).subarray(0, 40), at % (bytes.length - 40));
        writeFileSync(file, bytes);
        writeFileSync(`${file}-wal`, "");
        const journal = open(file);
        try {
          await journal.list({}).catch(ours);
          for (const { run } of await journal.list({}).then(
            ({ runs }) => runs,
            () => [],
          )) {
            await journal.read(run, 0, 100).catch(ours);
          }
          await journal.claim("w", 10).catch(ours);
          await journal.ping().catch(ours);
        } finally {
          await journal.close().catch(ours);
        }
      }),
  };
};

export const imports = async (folder: string): Promise<Target> => {
  const file = join(folder, "export.db");
  const run = await sample(file);
  const journal = open(file);
  let text = "";
  for await (const line of exportRun(journal, run)) text += line;
  await journal.close();
  return {
    name: "imports",
    property: () =>
      fc.asyncProperty(wounds, async (cuts) => {
        await importRun(memory(), hurt(Buffer.from(text), cuts).toString("utf8")).catch(ours);
      }),
  };
};
