import { MemoryJournal } from "../../../plugins/memory/journal.ts";
import { systemClock } from "../../../src/core/ports/clock.ts";
import { journalContract } from "../../../src/testing/journal.ts";

journalContract("memory", {
  open: async ({ lease }) => new MemoryJournal({ clock: systemClock, keep: 1_000, lease }),
});
