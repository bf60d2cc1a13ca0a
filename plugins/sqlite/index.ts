import { mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { wrap } from "venturi/internal";
import { Duration, definePlugin, Size, VenturiError } from "venturi/plugin";
import { z } from "zod";
import { inThisThread, real } from "./deps.ts";
import { SqliteJournal } from "./journal.ts";

export default definePlugin({
  name: "sqlite",
  kind: "journal",
  description: "Keeps runs in one SQLite file: one machine, several processes.",
  options: z.strictObject({
    path: z
      .string()
      .prefault("./data/venturi.db")
      .describe("The file, created when missing; `:memory:` keeps nothing."),
    lease: Duration.prefault("5s").describe("A worker without a heartbeat for this long loses its runs."),
    busyTimeout: Duration.prefault("5s").describe(
      "How long a transaction waits for another process to finish its own.",
    ),
    watch: Duration.prefault("50ms").describe(
      "Minimum interval between checks for other processes' writes, which happen when the file's log changes.",
    ),
    search: z
      .boolean()
      .prefault(true)
      .describe("Index inputs and answers of runs for full-text search (`GET /v1/runs?q=`)."),
    maxSize: Size.optional().describe("Maximum file size; default: unlimited."),
  }),
  check: ({ path }, { processes }) =>
    path !== ":memory:" || processes === 1
      ? []
      : [{ path: ["path"], message: `${processes} processes (server.processes) cannot share :memory:; name a file` }],
  async create({ path, ...options }, context) {
    const file = path === ":memory:" ? path : resolve(context.folder, path);
    if (file !== ":memory:") makeFolder(dirname(file));
    const deps = context.shortLived === true ? await inThisThread() : real;
    const journal = new SqliteJournal({ ...options, file }, context.log, deps);
    try {
      // A read: a file locked by another process right now can be waited for later.
      await journal.read("", 0, 1);
    } catch (thrown) {
      await journal.close();
      // Only the operator sees it, who may have several files.
      const { op, code, message } = wrap("journal.open", thrown, "journal_failed");
      throw new VenturiError(op, code, `${file}: ${message}`, { cause: thrown });
    }
    return journal;
  },
});

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (cause) {
    const message = `the folder ${folder} for the journal cannot be created; choose another journal.path`;
    throw new VenturiError("journal.open", "journal_failed", message, { cause });
  }
}
