// Many runs written and followed at once through a journal: how late does an event reach its follower, and at what cost?
//   node bench/journal.mjs [--engine sqlite] [--engine postgres] [--runs 1000] [--rate 50] [--seconds 10] [--json]
// Latency is from RunLog.write to the follower having the event, which it gets only once it is durable (fsync on). CPU is
// this process's (SQLite's thread included, PostgreSQL's server not), in percent of one core.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { MemoryJournal } from "../dist/plugins/memory/journal.js";
import { SqliteJournal } from "../dist/plugins/sqlite/journal.js";
import { systemClock } from "../dist/src/core/ports/clock.js";
import { Committer } from "../dist/src/journal/committer.js";
import { Followers } from "../dist/src/journal/followers.js";
import { Cluster } from "../dist/test/plugins/postgres/cluster.js";
import { openJournal } from "../dist/test/plugins/postgres/open.js";

const { values } = parseArgs({
  options: {
    engine: { type: "string", multiple: true, default: ["memory", "sqlite", "postgres"] },
    runs: { type: "string", default: "1000" },
    rate: { type: "string", default: "50" },
    seconds: { type: "string", default: "10" },
    json: { type: "boolean" },
  },
});
const runs = Number(values.runs);
const rate = Number(values.rate);
const seconds = Number(values.seconds);

const results = {};
for (const engine of values.engine) {
  const { journal, close } = await open(engine);
  results[engine] = await measure(journal);
  if (!values.json) process.stdout.write(`${JSON.stringify({ engine, runs, rate, seconds, ...results[engine] })}\n`);
  await close();
}
if (values.json) console.log(JSON.stringify(results));

async function open(engine) {
  if (engine === "memory") {
    const journal = new MemoryJournal({ clock: systemClock, keep: 1000, lease: 60_000 });
    return { journal, close: () => journal.close() };
  }
  if (engine === "sqlite") {
    const folder = mkdtempSync(join(tmpdir(), "venturi-bench-"));
    const journal = new SqliteJournal({ file: join(folder, "j.db"), lease: 60_000, busyTimeout: 5_000, watch: 50 });
    const close = async () => {
      await journal.close();
      rmSync(folder, { recursive: true });
    };
    return { journal, close };
  }
  const cluster = await Cluster.start("on", { shared_buffers: "128MB" });
  const journal = openJournal(cluster.url, "bench", { pool: 8 });
  const close = async () => {
    await journal.close();
    await cluster.stop();
  };
  return { journal, close };
}

async function measure(journal) {
  let commits = 0;
  const append = journal.append.bind(journal);
  journal.append = (batch) => {
    commits += 1;
    return append(batch);
  };
  const followers = new Followers({ journal });
  const committer = new Committer({ journal, listener: followers });
  await journal.heartbeat("bench");
  const logs = await Promise.all(
    Array.from({ length: runs }, async (_, number) => {
      const request = { agent: "bench", input: {} };
      const item = { run: `run_${number}`, tenant: "default", session: undefined, request, claimFor: "bench" };
      return committer.openLog((await journal.enqueue(item)).claim.ownership);
    }),
  );
  const latencies = [];
  const following = logs.map(async (log) => {
    for await (const batch of followers.follow(log.ownership.run)) {
      const now = performance.now();
      for (const event of batch) if (event.type === "text.delta") latencies.push(now - Number(event.text.slice(0, 20)));
    }
  });
  const cpu = process.cpuUsage();
  const start = performance.now();
  const total = runs * rate * seconds;
  const padding = " and some text";
  await new Promise((resolve) => {
    let written = 0;
    const timer = setInterval(() => {
      const due = Math.min(total, Math.floor(((performance.now() - start) / 1000) * rate * runs));
      for (; written < due; written++) {
        const text = performance.now().toFixed(3).padStart(20) + padding;
        logs[written % runs].write({ type: "text.delta", round: 1, text });
      }
      if (written < total) return;
      clearInterval(timer);
      resolve();
    }, 1);
  });
  const timing = { providerWait: 0, providerStream: 0, tool: 0, approval: 0, client: 0, runtime: 0 };
  const end = { finish: "stop", output: "", usage: {}, rounds: 1, timing };
  await Promise.all(logs.map((log) => log.step({ type: "run.finished", ...end })));
  await Promise.all(following);
  const took = performance.now() - start;
  const used = process.cpuUsage(cpu);
  latencies.sort((left, right) => left - right);
  const at = (part) => Math.round(latencies[Math.floor((latencies.length - 1) * part)] * 10) / 10;
  return {
    events: latencies.length,
    eventsPerSecond: Math.round((latencies.length / took) * 1000),
    commits,
    p50: at(0.5),
    p99: at(0.99),
    max: at(1),
    cpu: Math.round(((used.user + used.system) / 1000 / took) * 100),
  };
}
