import { Duration, definePlugin } from "venturi/plugin";
import { z } from "zod";
import { MemoryJournal } from "./journal.ts";

export default definePlugin({
  name: "memory",
  kind: "journal",
  description: "Keeps runs in the memory of this process: for tests and one-off runs. Nothing survives a restart.",
  options: z.strictObject({
    keep: z.number().int().positive().prefault(1000).describe("Maximum number of ended runs; the oldest are dropped."),
    lease: Duration.prefault("10s").describe("A worker without a heartbeat for this long loses its runs."),
  }),
  check: (_options, { processes }) =>
    processes === 1
      ? []
      : [
          {
            path: ["type"],
            message: `${processes} processes (server.processes) cannot share the memory of one; use sqlite, postgres or nats`,
          },
        ],
  create: (options, context) => new MemoryJournal({ ...options, clock: context.clock }),
});
