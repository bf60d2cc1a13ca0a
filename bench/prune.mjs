// How long an append to a SQLite journal takes while it is pruned, as the service does it and without its rests.
//   node bench/prune.mjs [--runs 4000] [--records 100] [--file venturi.db]
// The runs' records are interleaved, as those of runs that stream side by side are. All but --runs / 2 runs are removed, from a new
// journal or from a copy of --file.
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { SqliteJournal } from "../dist/plugins/sqlite/journal.js";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "4000" },
    records: { type: "string", default: "100" },
    file: { type: "string" },
  },
});
const [runs, records] = [Number(values.runs), Number(values.records)];
for (const rest of [0, 3]) {
  const folder = mkdtempSync(join(tmpdir(), "venturi-prune-"));
  if (values.file !== undefined) copyFileSync(values.file, join(folder, "venturi.db"));
  const journal = new SqliteJournal({
    file: join(folder, "venturi.db"),
    lease: 60_000,
    busyTimeout: 5_000,
    watch: 50,
    maxSize: undefined,
    search: true,
  });
  if (values.file === undefined) await fill(journal);
  console.log(JSON.stringify({ rest, runs, records, ...(await pruned(journal, rest)) }));
  await journal.close();
  rmSync(folder, { recursive: true });
}

async function fill(journal) {
  const owned = [];
  for (let count = 0; count < runs; count++) owned.push(await started(journal, `run-${count}`));
  for (let first = 0; first < runs; first += 1000) {
    const side = owned.slice(first, first + 1000);
    for (let seq = 1; seq < records; seq++)
      await write(journal, side, { type: "text.delta", round: 1, text: `word ${seq} ` });
    await write(
      journal,
      side,
      { type: "run.finished", finish: "stop", output: "", usage: {}, rounds: 1, timing: {} },
      "done",
    );
  }
}

async function started(journal, run) {
  const request = { agent: "a", input: { text: "hi" } };
  const { claim } = await journal.enqueue({ run, tenant: "default", session: undefined, request, claimFor: "w" });
  return claim.ownership;
}

async function write(journal, owned, body, state) {
  const batch = owned.map((ownership) => {
    const event = { ...body, run: ownership.run, at: Date.now(), seq: ownership.head + 1 };
    return { ownership, events: [event], ...(state === undefined ? {} : { state }) };
  });
  const fenced = await journal.append(batch);
  if (fenced.size > 0) throw new Error(`${fenced.size} appends were refused`);
  for (const ownership of owned) ownership.head += 1;
}

async function pruned(journal, rest) {
  const owner = await started(journal, "run-open");
  const times = [];
  let pruning = true;
  const writing = (async () => {
    while (pruning) {
      const from = performance.now();
      await write(journal, [owner], { type: "text.delta", round: 1, text: "a" });
      times.push(performance.now() - from);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  const [cpu, from] = [process.cpuUsage(), performance.now()];
  const removed = await journal.prune({ keep: runs / 2, rest });
  pruning = false;
  await writing;
  const { user, system } = process.cpuUsage(cpu);
  times.sort((left, right) => left - right);
  const at = (part) => Number(times[Math.min(times.length - 1, Math.floor(times.length * part))].toFixed(1));
  const seconds = (ms) => Number((ms / 1000).toFixed(1));
  return {
    removed,
    seconds: seconds(performance.now() - from),
    cpu: seconds((user + system) / 1000),
    p50: at(0.5),
    p99: at(0.99),
    max: at(1),
  };
}
