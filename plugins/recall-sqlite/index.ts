import { mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { wrap } from "venturi/internal";
import { Duration, definePlugin, VenturiError } from "venturi/plugin";
import { z } from "zod";
import { NotesInSqlite } from "./notes.ts";

export default definePlugin({
  name: "recall-sqlite",
  kind: "memory",
  description: "Notes in one SQLite file, found by its full-text index (FTS5): one machine, several processes.",
  options: z.strictObject({
    path: z.string().min(1).prefault("./data/memory.db").describe("The file, created when missing."),
    busyTimeout: Duration.prefault("5s").describe(
      "How long a transaction waits for another process to finish its own.",
    ),
  }),
  async create({ path, busyTimeout }, { folder }) {
    const file = resolve(folder, path);
    makeFolder(dirname(file));
    const store = new NotesInSqlite({ file, busyTimeout });
    try {
      await store.list({ tenant: "", scope: "agent", owner: "" }, { limit: 1 });
    } catch (thrown) {
      await store.close();
      // Only the operator sees it, who may have several files.
      const { op, code, message } = wrap("memory.open", thrown, "unavailable");
      throw new VenturiError(op, code, `${file}: ${message}`, { cause: thrown });
    }
    return store;
  },
});

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (cause) {
    const message = `the folder ${folder} for the memory cannot be created; choose another path`;
    throw new VenturiError("memory.open", "unavailable", message, { cause });
  }
}
