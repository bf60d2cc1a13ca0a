import { journalContract } from "../../../src/testing/journal.ts";
import { DiskJournal } from "./store.ts";

journalContract("the SQLite journal on a simulated disk", {
  open: ({ lease }) => DiskJournal.open({ lease, now: Date.now, checkpoint: 10 }),
});
