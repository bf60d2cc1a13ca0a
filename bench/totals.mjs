// What GET /v1/totals costs in a journal with many ended runs, and what the sums cost a run that ends.
//   node bench/totals.mjs [--engine sqlite] [--engine postgres] [--runs 1000000] [--days 30] [--times 30] [--ends 2000]
//     [--keep FOLDER]  leaves the journals there, and measures those that an earlier call left (then without runs that end)
// Runs are put in in bulk, into a journal of the version before the sums; opening it then fills them, which is timed too.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import pg from "pg";
import { migrations as postgresMigrations } from "../dist/plugins/postgres/migrations.js";
import { migrate as migratePostgres } from "../dist/plugins/postgres/schema.js";
import { SqliteJournal } from "../dist/plugins/sqlite/journal.js";
import { migrate as migrateSqlite, migrations as sqliteMigrations } from "../dist/plugins/sqlite/schema.js";
import { endOfRun } from "../dist/src/core/run/digest.js";
import { noTiming } from "../dist/src/core/run/timing.js";
import { claimed, eventsAfter } from "../dist/src/testing/journal-bench.js";
import { Cluster } from "../dist/test/plugins/postgres/cluster.js";
import { openJournal } from "../dist/test/plugins/postgres/open.js";
import { timeOf } from "./proc.mjs";

const { values } = parseArgs({
  options: {
    engine: { type: "string", multiple: true, default: ["sqlite", "postgres"] },
    runs: { type: "string", default: "1000000" },
    days: { type: "string", default: "30" },
    times: { type: "string", default: "30" },
    ends: { type: "string", default: "2000" },
    keep: { type: "string" },
  },
});
const [runs, days, times, ends] = [values.runs, values.days, values.times, values.ends].map(Number);
const day = 86_400_000;
const now = filledAt() ?? Date.now();
const start = now - days * day;

// 20 tenants of unlike size with two keys each, 6 agents with a model of their own, of which 3 % fall back to another; 5 % fail, by
// six codes, and 1 % are cancelled; durations from 0.1 s to 100 s.
const codes = ["llm_error", "timeout", "tool_failed", "rate_limited", "budget_exceeded", "invalid_output"];
function hash(n, salt) {
  let mixed = Math.imul(n ^ Math.imul(salt, 0x85ebca6b), 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return ((mixed ^ (mixed >>> 12)) >>> 8) / 2 ** 24;
}
function* made() {
  for (let n = 1; n <= runs; n++) {
    const tenant = Math.floor(20 * hash(n, 1) ** 2);
    const agent = Math.floor(6 * hash(n, 2));
    const fate = hash(n, 3);
    const outcome = fate < 0.05 ? "failed" : fate < 0.06 ? "cancelled" : "finished";
    const code =
      outcome === "failed" ? codes[Math.floor(6 * hash(n, 4))] : outcome === "cancelled" ? "stream_interrupted" : null;
    const ms = Math.round(100 * 1000 ** (hash(n, 5) * 0.6 + hash(n, 6) * 0.4));
    const at = Math.floor(start + ((n - 1) / runs) * days * day);
    const caller = `key-${tenant}-${hash(n, 7) < 0.7 ? 0 : 1}`;
    const models = [`vendor/model-${agent}`, ...(hash(n, 8) < 0.03 ? ["other/model"] : [])];
    const cost = Math.round(ms * 31) / 1e7;
    const digest = {
      ...{
        run: `run_${n}`,
        agent: `agent-${agent}`,
        status: outcome,
        startedAt: at,
        endedAt: at + ms,
        ms,
        timing: noTiming,
      },
      usage: { inputTokens: 900 + (n % 500), outputTokens: 100 + (n % 90) },
      ...(code === null ? { finish: "stop" } : { code }),
      ...{
        cost,
        rounds: 1,
        calls: 0,
        tools: [],
        models,
        by: caller,
        input: "What is the state of my order?",
        output: "It is on its way.",
      },
    };
    yield {
      n,
      run: `run_${n}`,
      tenant: `tenant-${tenant}`,
      agent: `agent-${agent}`,
      caller,
      outcome,
      code,
      ms,
      at,
      cost,
      models,
      digest,
    };
  }
}

const queries = [
  ["everything", {}],
  ["everything, by tenant", {}, "tenant"],
  ["everything, by model", {}, "model"],
  ["everything, by day", {}, "day"],
  ["everything, failures by cause", {}, "cause"],
  ["failed, of the last hour, of a tenant", { tenant: "tenant-3", outcome: "failed", since: now - 3_600_000 }],
  ["a tenant this week, by agent", { tenant: "tenant-0", since: now - 7 * day }, "agent"],
  ["the last 24 hours", { since: now - day - 1_234_567 }],
  ["the last 7 days", { since: now - 7 * day - 1_234_567 }],
  ["the last 29 days, by key", { since: now - 29 * day + 1_234_567 }, "key"],
  ["10 days in the middle", { since: now - 20 * day - 1_234_567, until: now - 10 * day + 7_654_321 }],
  ["an agent, by day", { agent: "agent-2" }, "day"],
  ["a model that failed over", { model: "other/model" }, "cause"],
];

/** A folder for one engine; when it is kept, `filled` says whether a journal is there, and the file of that name when it was made. */
function place(engine) {
  const folder = values.keep === undefined ? mkdtempSync(join(tmpdir(), "venturi-totals-")) : join(values.keep, engine);
  mkdirSync(folder, { recursive: true });
  return { folder, filled: existsSync(join(folder, "filled")) };
}

function filledAt() {
  const marks = values.engine
    .map((engine) => join(values.keep ?? "", engine, "filled"))
    .filter((mark) => existsSync(mark));
  return values.keep === undefined || marks.length === 0 ? undefined : Number(readFileSync(marks[0], "utf8"));
}

const engines = {
  async sqlite({ folder, filled }) {
    const file = join(folder, "venturi.db");
    const open = () => new SqliteJournal({ file, lease: 30_000, busyTimeout: 60_000, watch: 50 });
    const close = () => {};
    if (filled) return { open, close };
    rmSync(file, { force: true });
    const old = new DatabaseSync(file);
    old.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000");
    for (const migration of sqliteMigrations.slice(0, -1)) old.exec(migration);
    old.exec(`PRAGMA application_id = ${0x766e7472}; PRAGMA user_version = ${sqliteMigrations.length - 1}; BEGIN`);
    const run =
      old.prepare(`INSERT INTO runs (id, run, tenant, agent, caller, state, outcome, epoch, created_at, updated_at, ended_at)
      VALUES (?, ?, ?, ?, ?, 'done', ?, 1, ?, ?, ?)`);
    const request = old.prepare("INSERT INTO requests VALUES (?, ?)");
    const digest = old.prepare(
      "INSERT INTO digests (run, ms, code, cost, tools, models, digest) VALUES (?, ?, ?, ?, '[]', ?, ?)",
    );
    for (const each of made()) {
      const { n, at, ms, models } = each;
      run.run(n, each.run, each.tenant, each.agent, each.caller, each.outcome, at, at, at + ms);
      request.run(n, '{"agent":"agent-1","input":{"text":"hi"}}');
      digest.run(n, ms, each.code, each.cost, JSON.stringify(models), JSON.stringify(each.digest));
    }
    old.exec("COMMIT");
    return {
      // As the thread of the journal does it.
      fill() {
        old.exec("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -2000");
        migrateSqlite(old);
        old.close();
      },
      open,
      close,
    };
  },
  async postgres({ folder, filled }) {
    const cluster = await Cluster.start("on", {}, folder);
    const { url } = cluster;
    const open = () => openJournal(url, "totals", { timeout: 120_000 });
    const close = () => cluster.stop();
    if (filled) return { open, close };
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(
      "DROP SCHEMA IF EXISTS totals CASCADE; CREATE SCHEMA totals; CREATE TABLE totals.journal (version integer NOT NULL)",
    );
    await client.query(`INSERT INTO totals.journal VALUES (${postgresMigrations.length - 1})`);
    for (const migration of postgresMigrations.slice(0, -1)) await client.query(migration.replaceAll("$.", "totals."));
    const put = async (rows) => {
      const json = JSON.stringify(rows.map(({ digest, ...row }) => ({ ...row, digest: JSON.stringify(digest) })));
      await client.query(
        `WITH i AS (SELECT * FROM jsonb_to_recordset($1::jsonb) AS i (n bigint, run text, tenant text, agent text, caller text,
            outcome text, code text, ms float8, at float8, cost float8, models jsonb, digest text)
          ), r AS (INSERT INTO totals.runs (id, run, tenant, agent, caller, request, state, outcome, epoch, created_at, ended_at)
            OVERRIDING SYSTEM VALUE SELECT n, run, tenant, agent, caller, '{"agent":"agent-1","input":{"text":"hi"}}', 'done', outcome, 1,
              to_timestamp(at / 1000), to_timestamp((at + ms) / 1000) FROM i
          ) INSERT INTO totals.digests (run, ms, code, cost, tools, models, digest)
            SELECT n, ms, code, cost, '[]', models, digest::jsonb FROM i`,
        [json],
      );
    };
    const rows = [];
    for (const each of made()) {
      rows.push(each);
      if (rows.length === 5_000) await put(rows.splice(0));
    }
    await put(rows);
    await client.query("SELECT setval(pg_get_serial_sequence('totals.runs', 'id'), $1)", [runs + 1]);
    await client.query("ANALYZE");
    return {
      async fill() {
        await migratePostgres(client, "totals");
        await client.query("ANALYZE");
        await client.end();
      },
      open,
      close,
    };
  },
};

/** Of this process and the server it started, ms: what a query takes on a machine with nothing else to do. */
const cpu = () => timeOf(process.pid);

for (const name of values.engine) {
  console.log(`${name}, ${runs} ended runs over ${days} days; load ${loadavg()[0].toFixed(1)}`);
  const { folder, filled } = place(name);
  const engine = await engines[name]({ folder, filled });
  try {
    if (!filled) {
      const [began, before] = [performance.now(), cpu()];
      await engine.fill();
      writeFileSync(join(folder, "filled"), String(now));
      const [took, used] = [performance.now() - began, cpu() - before].map((ms) => (ms / 1_000).toFixed(1));
      console.log(`  filling the sums of a journal of the version before: ${took} s, CPU ${used} s`);
    }
    const journal = await engine.open();
    try {
      for (const [what, query, by] of queries) {
        const took = [];
        let found;
        const before = cpu();
        for (let time = 0; time < times; time++) {
          const began = performance.now();
          found = await journal.totals(query, by);
          took.push(performance.now() - began);
        }
        const used = ((cpu() - before) / times).toFixed(1).padStart(6);
        took.sort((one, other) => one - other);
        const at = (share) => took[Math.min(times - 1, Math.ceil(times * share) - 1)].toFixed(1).padStart(7);
        console.log(
          `  ${what.padEnd(40)} p50 ${at(0.5)} ms  p99 ${at(0.99)} ms  CPU ${used} ms  (${found.all.runs} runs, ${found.groups.length} groups, ${found.bars.length} bars)`,
        );
      }
      if (ends > 0 && !filled) await endings(journal);
    } finally {
      await journal.close();
    }
  } finally {
    await engine.close();
    if (values.keep === undefined) rmSync(folder, { recursive: true });
  }
}

/** What the append costs that ends a run, in batches of 20. */
async function endings(journal) {
  const took = [];
  for (let done = 0; done < ends; done += 20) {
    const batch = [];
    for (let n = 0; n < 20; n++) {
      const { ownership, request } = await claimed(journal, { tenant: `tenant-${n % 5}` });
      const timing = { ...noTiming, tool: 100 * 1000 ** Math.random() };
      const events = eventsAfter(ownership, [
        { type: "run.started", agent: "a", input: { text: "hi" } },
        { type: "round.started", round: 1, model: "vendor/model-1", attempt: 1 },
        {
          type: "run.finished",
          finish: "stop",
          output: "It is on its way.",
          usage: { inputTokens: 9 },
          rounds: 1,
          timing,
        },
      ]);
      batch.push({ ownership, events, state: "done", end: endOfRun({ run: ownership.run, request }, events) });
    }
    const began = performance.now();
    await journal.append(batch);
    took.push((performance.now() - began) / 20);
  }
  took.sort((one, other) => one - other);
  console.log(`  a run that ends, of 20 in a batch: p50 ${(took[took.length >> 1] * 1_000).toFixed(0)} µs`);
}
