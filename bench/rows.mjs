// What claim, append, enqueue, list and get cost in a journal that holds many ended runs.
//   node bench/rows.mjs [--engine sqlite] [--engine postgres] [--sizes 10000,100000,1000000] [--times 200] [--events 10] [--json]
// Ended runs are put in by SQL, each with one record of so many events; the rest is done through the journal's own methods.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import pg from "pg";
import { SqliteJournal } from "../dist/plugins/sqlite/journal.js";
import { Cluster } from "../dist/test/plugins/postgres/cluster.js";
import { openJournal } from "../dist/test/plugins/postgres/open.js";

const { values } = parseArgs({
  options: {
    engine: { type: "string", multiple: true, default: ["sqlite", "postgres"] },
    sizes: { type: "string", default: "10000,100000,1000000" },
    times: { type: "string", default: "200" },
    events: { type: "string", default: "10" },
    json: { type: "boolean", default: false },
  },
});
const sizes = values.sizes.split(",").map(Number);
const times = Number(values.times);
const events = Number(values.events);
const body = Array.from(
  { length: events },
  (_, n) => `{"type":"text.delta","round":1,"text":"word ","seq":${n + 1}}`,
).join("\n");

for (const name of values.engine) {
  const engine = await (name === "sqlite" ? openSqlite() : openPostgres());
  const found = [];
  let there = 0;
  try {
    for (const size of sizes) {
      await engine.fill(there, size);
      there = size;
      found.push({ size, bytes: await engine.bytes(), ...(await measure(engine.journal)) });
      // A large size may take longer than one waits for it.
      console.error(JSON.stringify({ engine: name, ...found.at(-1) }));
    }
  } finally {
    await engine.close();
  }
  if (values.json) console.log(JSON.stringify({ engine: name, found }));
  else print(name, found);
}

function print(name, found) {
  console.log(
    `${name}, load ${loadavg()[0].toFixed(1)}: median ms of ${times}, and the exponent from the first to the last size`,
  );
  console.log(`  ${"".padEnd(22)}${found.map(({ size }) => String(size).padStart(10)).join("")}  exponent`);
  const [first, last] = [found[0], found.at(-1)];
  for (const what of Object.keys(first).filter((key) => key !== "size" && key !== "bytes")) {
    const exponent = Math.log(last[what] / first[what]) / Math.log(last.size / first.size);
    const row = found.map((each) => each[what].toFixed(2).padStart(10)).join("");
    console.log(`  ${what.padEnd(22)}${row}  ${found.length > 1 ? exponent.toFixed(2) : ""}`);
  }
  console.log(
    `  ${"kB a run".padEnd(22)}${found.map(({ size, bytes }) => (bytes / 1024 / size).toFixed(2).padStart(10)).join("")}`,
  );
}

async function measure(journal) {
  const request = { agent: "agent-1", input: { text: "hi" } };
  const results = {};
  const each = async (what, action) => {
    const taken = [];
    for (let n = 0; n < times; n++) {
      const at = performance.now();
      await action(n);
      taken.push(performance.now() - at);
    }
    taken.sort((left, right) => left - right);
    results[what] = taken[times >> 1];
  };
  const runs = [];
  await each("enqueue", async () => {
    const run = `run_${randomUUID()}`;
    runs.push(run);
    await journal.enqueue({ run, tenant: "tenant-1", session: undefined, request });
  });
  const claims = [];
  await each("claim", async () => claims.push(...(await journal.claim("w", 1))));
  await each("append", async (n) => {
    const { ownership } = claims[n];
    const event = { type: "text.delta", round: 1, text: "x", run: ownership.run, seq: ownership.head + 1, at: 0 };
    await journal.append([{ ownership, events: [event] }]);
    ownership.head += 1;
  });
  await each("read", (n) => journal.read(runs[n], 0, 100));
  await each("get", (n) => journal.get(runs[n]));
  await each("list, newest 50", () => journal.list({ limit: 50 }));
  await each("list of a tenant", () => journal.list({ tenant: "tenant-7", limit: 50 }));
  await each("list of a session", () => journal.list({ tenant: "tenant-7", session: "session-7", limit: 50 }));
  await each("list of failed", () => journal.list({ outcome: "failed", limit: 50 }));
  await each("list of running", () => journal.list({ state: "running", limit: 50 }));
  await each("claim of nothing", () => journal.claim("w", 1));
  const usage = {};
  const timing = {};
  await each("end", async (n) => {
    const { ownership } = claims[n];
    const event = {
      type: "run.finished",
      finish: "stop",
      output: "",
      usage,
      rounds: 1,
      timing,
      run: ownership.run,
      seq: ownership.head + 1,
      at: 0,
    };
    await journal.append([{ ownership, events: [event], state: "done" }]);
  });
  return results;
}

async function openSqlite() {
  const folder = mkdtempSync(join(tmpdir(), "venturi-rows-"));
  const file = join(folder, "venturi.db");
  const journal = new SqliteJournal({ file, lease: 30_000, busyTimeout: 60_000, watch: 50 });
  await journal.ping();
  return {
    journal,
    fill: async (from, to) => {
      const database = new DatabaseSync(file, { timeout: 60_000 });
      database.exec("PRAGMA synchronous = OFF");
      const numbers = `WITH RECURSIVE n (i) AS (SELECT ${from + 1} UNION ALL SELECT i + 1 FROM n WHERE i < ${to})`;
      database.exec("BEGIN IMMEDIATE");
      const base = Number(database.prepare("SELECT coalesce(max(id), 0) AS id FROM runs").get().id) - from;
      const record = Number(database.prepare("SELECT coalesce(max(id), 0) AS id FROM records").get().id) - from;
      database.exec(`${numbers} INSERT INTO runs (id, run, tenant, session, agent, state, outcome, epoch, worker, head, tail, created_at, updated_at, ended_at)
        SELECT ${base} + i, 'old_' || i, 'tenant-' || (i % 100), 'session-' || (i % 10000), 'agent-' || (i % 10), 'done',
          CASE WHEN i % 20000 = 0 THEN 'failed' ELSE 'finished' END, 1, 'w', ${events}, ${record} + i, i, i, i FROM n`);
      database.exec(
        `${numbers} INSERT INTO requests (run, request) SELECT ${base} + i, '{"agent":"agent-1","input":{"text":"hi"}}' FROM n`,
      );
      database
        .prepare(
          `${numbers} INSERT INTO records (id, run, first, last, epoch, previous, body) SELECT ${record} + i, ${base} + i, 1, ${events}, 1, 0, ? FROM n`,
        )
        .run(body);
      database.exec("COMMIT");
      database.close();
    },
    bytes: async () => statSync(file).size,
    close: async () => {
      await journal.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function openPostgres() {
  const cluster = await Cluster.start("on", {
    shared_buffers: "128MB",
    max_wal_size: "8GB",
    maintenance_work_mem: "1GB",
  });
  const journal = openJournal(cluster.url, "rows", { timeout: 60_000 });
  await journal.ping();
  const ask = async (text, parameters) => {
    const client = new pg.Client({ connectionString: cluster.url });
    await client.connect();
    try {
      return (await client.query(text, parameters)).rows;
    } finally {
      await client.end();
    }
  };
  const add = (from, to) =>
    ask(
      `WITH added AS (
        INSERT INTO rows.runs (run, tenant, session, agent, request, state, outcome, epoch, worker, head, created_at, updated_at, ended_at)
        SELECT 'old_' || i, 'tenant-' || (i % 100), 'session-' || (i % 10000), 'agent-' || (i % 10), '{"agent":"agent-1","input":{"text":"hi"}}',
          'done', CASE WHEN i % 20000 = 0 THEN 'failed' ELSE 'finished' END, 1, 'w', ${events}, now() - interval '1 day', now() - interval '1 day', now() - interval '1 day'
        FROM generate_series(${from + 1}::bigint, ${to}::bigint) AS i RETURNING id
      ) INSERT INTO rows.records (run, first, last, epoch, body) SELECT id, 1, ${events}, 1, $1 FROM added`,
      [body],
    );
  return {
    journal,
    fill: async (from, to) => {
      // Sorted at the end, indexes take minutes; kept up row by row, hours.
      const unique = await ask(
        "SELECT conname AS name, pg_get_constraintdef(oid) AS made FROM pg_constraint WHERE conrelid = 'rows.runs'::regclass AND contype = 'u'",
      );
      const indexes = await ask(
        "SELECT indexname AS name, indexdef AS made FROM pg_indexes WHERE schemaname = 'rows' AND tablename = 'runs' AND indexname NOT IN (SELECT conname FROM pg_constraint WHERE conrelid = 'rows.runs'::regclass)",
      );
      for (const { name } of unique) await ask(`ALTER TABLE rows.runs DROP CONSTRAINT ${name}`);
      for (const { name } of indexes) await ask(`DROP INDEX rows.${name}`);
      const step = 1_000_000;
      for (let at = from; at < to; at += step) await add(at, Math.min(to, at + step));
      for (const { name, made } of unique) await ask(`ALTER TABLE rows.runs ADD CONSTRAINT ${name} ${made}`);
      for (const { made } of indexes) await ask(made);
      await ask("CHECKPOINT");
      await ask("VACUUM ANALYZE rows.runs");
      await ask("VACUUM ANALYZE rows.records");
    },
    bytes: async () => Number((await ask("SELECT pg_database_size(current_database()) AS size"))[0].size),
    close: async () => {
      await journal.close();
      await cluster.stop();
    },
  };
}
