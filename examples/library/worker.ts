// A worker: starts nothing, takes up the runs of its agents that other processes left in the journal.
// Several may run beside each other and beside the web servers; `takeUp: "same"` leaves runs of another revision alone.
import { openVenturi, sqlite } from "venturi";
import { support } from "./shop.ts";

const venturi = await openVenturi({
  agents: [support],
  journal: sqlite(process.env.JOURNAL ?? "./data/shop.db"),
  takeUp: process.env.TAKE_UP === "same" ? "same" : "any",
});
console.log("working");
process.on("SIGTERM", () => venturi.close().then(() => process.exit(0)));
