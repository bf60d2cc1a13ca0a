import { mkdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { definePlugin, VenturiError } from "venturi/plugin";
import { z } from "zod";
import { SqliteJournal } from "./journal.ts";

export default definePlugin({
  name: "sqlite",
  kind: "journal",
  description: "Keeps runs in one SQLite file: one machine, several processes.",
  options: z.strictObject({
    /** The file, made when it is not there; `:memory:` keeps nothing. */
    path: z.string().default("./data/venturi.db"),
    /** A worker not heard of for this long has lost its runs, ms. */
    lease: z.number().int().min(100).default(5_000),
    /** How long a transaction waits for another process to finish its own, ms. */
    busyTimeout: z.number().int().nonnegative().default(5_000),
    /** How often it looks whether another process has written, ms. */
    watch: z.number().int().positive().default(50),
    /** Largest that the file may grow, bytes; unlimited when absent. */
    maxSize: z.number().int().positive().optional(),
  }),
  async create({ path, ...options }, context) {
    const file = path === ":memory:" ? path : resolve(context.folder, path);
    if (file !== ":memory:") await makeFolder(dirname(file));
    const journal = new SqliteJournal({ ...options, file });
    try {
      await journal.ping();
    } catch (thrown) {
      await journal.close();
      throw thrown;
    }
    return journal;
  },
});

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (cause) {
    const message = `the folder ${folder} for the journal cannot be made; choose another journal.path`;
    throw new VenturiError("journal.open", "journal_failed", message, { cause });
  }
}
