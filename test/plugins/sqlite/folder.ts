import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SqliteJournal } from "../../../plugins/sqlite/journal.ts";
import type { ThreadOptions } from "../../../plugins/sqlite/protocol.ts";

/** A folder that is gone after the tests of the file that asked for it. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "venturi-sqlite-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

let count = 0;
export const freshFile = (folder: string): string => join(folder, `${++count}.db`);

/** As the plugin opens it, with its own defaults for tests. */
export async function openFile(file: string, rest: Partial<ThreadOptions> = {}): Promise<SqliteJournal> {
  const journal = new SqliteJournal({ file, lease: 30_000, busyTimeout: 5_000, watch: 20, ...rest });
  await journal.ping().catch(async (thrown) => {
    await journal.close();
    throw thrown;
  });
  return journal;
}
