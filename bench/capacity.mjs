// A week of a service that runs a million runs a day, accelerated: what the journal grows by, what retention frees, what it costs.
//   node bench/capacity.mjs [--engine sqlite] [--runs-per-day 1000000] [--days 7] [--keep-days 2] [--scale 200] [--json]
// Real runs (the events of a tool round and an answer of 60 words) are written through the journal's own methods by the real
// committer, 1/scale of the load; each simulated day is followed by what retention does at its end. Figures are scaled up again.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import pg from "pg";
import { SqliteJournal } from "../dist/plugins/sqlite/journal.js";
import { Committer } from "../dist/src/journal/committer.js";
import { Cluster } from "../dist/test/plugins/postgres/cluster.js";
import { openJournal } from "../dist/test/plugins/postgres/open.js";

const { values } = parseArgs({
  options: {
    engine: { type: "string", multiple: true, default: ["sqlite", "postgres"] },
    "runs-per-day": { type: "string", default: "1000000" },
    days: { type: "string", default: "7" },
    "keep-days": { type: "string", default: "2" },
    scale: { type: "string", default: "200" },
    json: { type: "boolean", default: false },
  },
});
const perDay = Number(values["runs-per-day"]);
const days = Number(values.days);
const keepDays = Number(values["keep-days"]);
const scale = Number(values.scale);
const each = Math.round(perDay / scale);
const concurrent = 50;

const words = Array.from({ length: 60 }, (_, n) => `word${n} `);
const usage = { inputTokens: 900, outputTokens: 90 };
const timing = {
  providerWait: 1,
  providerStream: 1,
  retryWait: 0,
  tool: 1,
  approval: 0,
  client: 0,
  stalled: 0,
  runtime: 1,
};

for (const name of values.engine) {
  const engine = await (name === "sqlite" ? openSqlite() : openPostgres());
  const week = [];
  try {
    for (let day = 1; day <= days; day++) {
      const cpu = process.cpuUsage();
      const at = performance.now();
      const written = await oneDay(engine.journal);
      const seconds = (performance.now() - at) / 1000;
      const { user, system } = process.cpuUsage(cpu);
      const before = await engine.bytes();
      const pruneAt = performance.now();
      const pruned = await engine.journal.prune({ keep: keepDays * each });
      const pruneSeconds = (performance.now() - pruneAt) / 1000;
      await engine.settle();
      week.push({
        day,
        events: written.events,
        runsPerSecond: each / seconds,
        cpuMsPerRun: (user + system) / 1000 / each,
        bytesBefore: before,
        bytes: await engine.bytes(),
        pruned,
        pruneMsPerRun: pruned === 0 ? 0 : (pruneSeconds * 1000) / pruned,
      });
    }
  } finally {
    await engine.close();
  }
  if (values.json) console.log(JSON.stringify({ engine: name, perDay, scale, week }));
  else print(name, week);
}

function print(name, week) {
  const gb = (bytes) => ((bytes * scale) / 1024 ** 3).toFixed(1).padStart(9);
  console.log(
    `${name}: ${perDay} runs/day, ${keepDays} days kept, 1/${scale} of the load written for real, load ${loadavg()[0].toFixed(1)}`,
  );
  console.log("  day  events/day    GB held   GB after   pruned/day   ms/pruned   runs/s written   journal ms CPU/run");
  for (const day of week) {
    console.log(
      `  ${String(day.day).padStart(3)}  ${String(day.events * scale).padStart(10)}  ${gb(day.bytesBefore)}  ${gb(day.bytes)}  ${String(day.pruned * scale).padStart(11)}  ${day.pruneMsPerRun.toFixed(2).padStart(10)}  ${day.runsPerSecond.toFixed(0).padStart(15)}  ${day.cpuMsPerRun.toFixed(2).padStart(19)}`,
    );
  }
  const [first] = week;
  const perRun = first.bytesBefore / each / 1024;
  const last = week.at(-1);
  console.log(
    `  ${perRun.toFixed(1)} kB a run; held after the week: ${gb(last.bytes).trim()} GB, ${(last.bytes / first.bytesBefore).toFixed(2)} × the first day's`,
  );
}

async function oneDay(journal) {
  const committer = new Committer({ journal });
  let started = 0;
  let events = 0;
  const client = async () => {
    while (started < each) {
      started += 1;
      const written = await oneRun(journal, committer);
      events += written;
    }
  };
  await Promise.all(Array.from({ length: concurrent }, client));
  committer.close();
  return { events };
}

/** What the loop writes for one call of a tool and an answer. */
async function oneRun(journal, committer) {
  const run = `run_${randomUUID()}`;
  const request = {
    agent: "assistant",
    input: { text: "What is the weather in Paris, and what should I wear?" },
    metadata: { user: "u-17" },
  };
  const { claim } = await journal.enqueue({
    run,
    tenant: "default",
    session: undefined,
    request,
    claimFor: "capacity",
  });
  const log = committer.openLog(claim.ownership);
  const call = "call_0123456789abcdef";
  log.write({ type: "run.started", agent: "assistant", input: request.input });
  log.write({ type: "round.started", round: 1, model: "up/model", attempt: 1 });
  log.write({ type: "tool_call.delta", round: 1, call, name: "weather", arguments: '{"city":"Paris"}' });
  await log.step({ type: "generation.finished", round: 1, attempt: 1, finish: "tool_calls", usage });
  await log.step({ type: "tool.started", round: 1, call, name: "weather", arguments: { city: "Paris" } });
  log.write({ type: "tool.finished", round: 1, call, name: "weather", output: "It is 18 degrees and sunny." });
  await log.step({ type: "round.finished", round: 1, finish: "tool_calls", usage });
  log.write({ type: "round.started", round: 2, model: "up/model", attempt: 1 });
  for (const [n, text] of words.entries()) {
    log.write({ type: "text.delta", round: 2, text });
    if (n % 6 === 5) await new Promise((resolve) => setImmediate(resolve));
  }
  log.write({ type: "generation.finished", round: 2, attempt: 1, finish: "stop", usage });
  log.write({ type: "round.finished", round: 2, finish: "stop", usage });
  await log.step({ type: "run.finished", finish: "stop", output: words.join(""), usage, rounds: 2, timing });
  return log.head;
}

async function openSqlite() {
  const folder = mkdtempSync(join(tmpdir(), "venturi-capacity-"));
  const file = join(folder, "venturi.db");
  const journal = new SqliteJournal({ file, lease: 30_000, busyTimeout: 60_000, watch: 50 });
  await journal.heartbeat("capacity");
  return {
    journal,
    // Without the log, whose size does not depend on the load.
    bytes: async () => {
      const database = new DatabaseSync(file, { readOnly: true });
      const { pages, size } = database
        .prepare("SELECT p.page_count AS pages, s.page_size AS size FROM pragma_page_count p, pragma_page_size s")
        .get();
      database.close();
      return pages * size;
    },
    settle: async () => {},
    close: async () => {
      await journal.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function openPostgres() {
  const cluster = await Cluster.start("on", { shared_buffers: "128MB" });
  const journal = openJournal(cluster.url, "capacity", { timeout: 60_000 });
  await journal.heartbeat("capacity");
  const ask = async (text) => {
    const client = new pg.Client({ connectionString: cluster.url });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  };
  const [{ size: empty }] = await ask("SELECT pg_database_size(current_database()) AS size");
  return {
    journal,
    bytes: async () =>
      Number((await ask("SELECT pg_database_size(current_database()) AS size"))[0].size) - Number(empty),
    // What autovacuum does in the course of a day.
    settle: () => ask("VACUUM"),
    close: async () => {
      await journal.close();
      await cluster.stop();
    },
  };
}
