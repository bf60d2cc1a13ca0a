import { definePlugin } from "venturi/plugin";
import { z } from "zod";
import { MemoryJournal } from "./journal.ts";

export default definePlugin({
  name: "memory",
  kind: "journal",
  description: "Keeps runs in the memory of this process: for tests and one-off runs. Nothing survives a restart.",
  options: z.strictObject({
    /** Ended runs kept; the oldest go first. */
    keep: z.number().int().positive().default(1000),
    /** A worker not heard of for this long has lost its runs, ms. */
    lease: z.number().int().positive().default(10_000),
  }),
  create: (options, context) => new MemoryJournal({ ...options, clock: context.clock }),
});
