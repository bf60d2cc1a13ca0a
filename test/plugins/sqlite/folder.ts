import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Deps } from "../../../plugins/sqlite/deps.ts";
import { SqliteJournal } from "../../../plugins/sqlite/journal.ts";
import type { ThreadOptions } from "../../../plugins/sqlite/protocol.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { sharedThreads } from "./shared-threads.ts";

/** A folder that is gone after the tests of the file that asked for it. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "venturi-sqlite-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

let count = 0;
export const freshFile = (folder: string): string => join(folder, `${++count}.db`);

/** As the plugin opens it, with its own defaults for tests, and with threads that it shares with others unless told otherwise. */
export async function openFile(
  file: string,
  rest: Partial<ThreadOptions> = {},
  parts: Deps = sharedThreads,
): Promise<SqliteJournal> {
  const journal = new SqliteJournal({ file, lease: 30_000, busyTimeout: 5_000, watch: 20, ...rest }, silentLog, parts);
  await journal.ping().catch(async (thrown) => {
    await journal.close();
    throw thrown;
  });
  return journal;
}
