import { definePlugin, Journal } from "venturi/plugin";
import { z } from "zod";
import { NotesInMemory } from "./notes.ts";

/** By journal and entry name, so that a config reload forgets nothing. */
const kept = new WeakMap<Journal, Map<string, NotesInMemory>>();

export default definePlugin({
  name: "recall-memory",
  kind: "memory",
  description: "Notes that are kept while the process lives.",
  options: z.strictObject({}),
  check: (_options, { processes }) =>
    processes === 1
      ? []
      : [
          {
            path: ["type"],
            message: `${processes} processes (server.processes) cannot share it; use sqlite or postgres`,
          },
        ],
  create(_options, { name, resolve }) {
    const journal = resolve(Journal);
    const stores = kept.get(journal) ?? new Map<string, NotesInMemory>();
    kept.set(journal, stores);
    const store = stores.get(name) ?? new NotesInMemory();
    stores.set(name, store);
    return store;
  },
});
