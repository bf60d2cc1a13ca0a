// A command: streams the answer, asks at the terminal, and takes up no run of a service beside it.
// node examples/library/cli.ts "Look up the order A-17"
import { createInterface } from "node:readline/promises";
import { openVenturi, sqlite } from "venturi";
import { support } from "./shop.ts";

await using venturi = await openVenturi({
  agents: [support],
  journal: sqlite(process.env.JOURNAL ?? "./data/shop.db"),
  takeUp: "none",
});
const stop = new AbortController();
process.once("SIGINT", () => stop.abort());
const run = await venturi.start(support, process.argv.slice(2).join(" ") || "Look up the order A-17", {
  context: { userId: "cli" },
  signal: stop.signal,
  onApproval: async ({ name, arguments: input, reason }) => {
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    const answer = await terminal.question(`${name} ${JSON.stringify(input)}: ${reason ?? "may it run?"} [y/N] `);
    terminal.close();
    return { approved: answer.trim().toLowerCase() === "y", by: "cli" };
  },
});
for await (const text of run.text()) process.stdout.write(text);
process.stdout.write("\n");
