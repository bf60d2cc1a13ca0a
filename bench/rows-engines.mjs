// Journals with many ended runs, for rows.mjs: each is filled in bulk and opened as often as wanted, in any process.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { connect } from "@nats-io/transport-node";
import pg from "pg";
import { Link } from "../dist/plugins/nats/link.js";
import { Names } from "../dist/plugins/nats/names.js";
import { openNats } from "../dist/plugins/nats/open.js";
import { originText, standingText } from "../dist/plugins/nats/standing.js";
import { Store } from "../dist/plugins/nats/store.js";
import { bytesOf, empty } from "../dist/plugins/nats/stored.js";
import { SqliteJournal } from "../dist/plugins/sqlite/journal.js";
import { NatsCluster } from "../dist/test/plugins/nats/cluster.js";
import { Cluster } from "../dist/test/plugins/postgres/cluster.js";
import { openJournal } from "../dist/test/plugins/postgres/open.js";
import { natsServer } from "../scripts/nats-server.mjs";

const request = '{"agent":"agent-1","input":{"text":"hi"}}';

/** One of `engine`, empty. `fill` puts in ended runs; `where` is what `openAt` needs, in this process or another. */
export const startEngine = (engine, events) => engines[engine].start(bodyOf(events), events);

/** `where`: of an engine, with its name. */
export const openAt = ({ engine, ...where }) => engines[engine].open(where);

const bodyOf = (events) =>
  Array.from({ length: events }, (_, n) => `{"type":"text.delta","round":1,"text":"word ","seq":${n + 1}}`).join("\n");

const engines = {
  sqlite: {
    start: startSqlite,
    open: async ({ file }) => new SqliteJournal({ file, lease: 30_000, busyTimeout: 60_000, watch: 50 }),
  },
  postgres: {
    start: startPostgres,
    open: async ({ url }) => openJournal(url, "rows", { timeout: 60_000 }),
  },
  nats: {
    start: startNats,
    open: (where) =>
      openNats({
        ...where,
        durability: "checked",
        replicas: 1,
        shards: 1,
        space: "rows",
        lease: 30_000,
        timeout: 60_000,
        requestTimeout: 10_000,
      }),
  },
};

async function startSqlite(body, events) {
  const folder = mkdtempSync(join(tmpdir(), "venturi-rows-"));
  const file = join(folder, "venturi.db");
  const where = { engine: "sqlite", file };
  const journal = await openAt(where);
  await journal.ping();
  await journal.close();
  return {
    where,
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
      database.exec(`${numbers} INSERT INTO requests (run, request) SELECT ${base} + i, '${request}' FROM n`);
      database
        .prepare(
          `${numbers} INSERT INTO records (id, run, first, last, epoch, previous, body) SELECT ${record} + i, ${base} + i, 1, ${events}, 1, 0, ? FROM n`,
        )
        .run(body);
      database.exec("COMMIT");
      database.close();
    },
    bytes: async () => statSync(file).size,
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function startPostgres(body, events) {
  const cluster = await Cluster.start("on", {
    shared_buffers: "128MB",
    max_wal_size: "8GB",
    maintenance_work_mem: "1GB",
  });
  const where = { engine: "postgres", url: cluster.url };
  const journal = await openAt(where);
  await journal.ping();
  await journal.close();
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
        SELECT 'old_' || i, 'tenant-' || (i % 100), 'session-' || (i % 10000), 'agent-' || (i % 10), '${request}',
          'done', CASE WHEN i % 20000 = 0 THEN 'failed' ELSE 'finished' END, 1, 'w', ${events}, now() - interval '1 day', now() - interval '1 day', now() - interval '1 day'
        FROM generate_series(${from + 1}::bigint, ${to}::bigint) AS i RETURNING id
      ) INSERT INTO rows.records (run, first, last, epoch, body) SELECT id, 1, ${events}, 1, $1 FROM added`,
      [body],
    );
  return {
    where,
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
    close: () => cluster.stop(),
  };
}

async function startNats(body, events) {
  process.env.NATS_SERVER = await natsServer();
  const cluster = await NatsCluster.start();
  const where = { engine: "nats", servers: cluster.servers, monitors: cluster.monitors };
  const journal = await openAt(where);
  await journal.ping();
  await journal.close();
  const names = new Names("rows", 1);
  const withStore = async (action) => {
    const link = new Link({
      connect: () => connect({ servers: cluster.servers }),
      timeout: 60_000,
      requestTimeout: 60_000,
      inbox: "_INBOX.rows",
    });
    try {
      return await action(new Store(link, undefined));
    } finally {
      await link.close();
    }
  };
  return {
    where,
    fill: async (from, to) => {
      await cluster.resync("10m"); // a sync for each message would take hours
      await withStore((store) => publishEnded(store, { names, body, events, from, to }));
      await cluster.resync("always");
    },
    bytes: () =>
      withStore(async (store) => {
        const infos = [names.stream(0), names.index].map((name) => store.api("rows", `STREAM.INFO.${name}`, {}));
        return (await Promise.all(infos)).reduce((sum, { state }) => sum + state.bytes, 0);
      }),
    /** As after a restore of the streams without it, or before any process lived long enough to write one. */
    forgetCheckpoint: () =>
      withStore((store) => store.api("rows", `STREAM.PURGE.${names.index}`, { filter: `${names.checkpoint(0, "*")}` })),
    close: () => cluster.stop(),
  };
}

/** What the journal itself writes for a run: its request, the claim, and the events with its end. */
async function publishEnded(store, { names, body, events, from, to }) {
  const standing = { epoch: 1, signals: 0, cancelled: false, outcome: undefined, worker: "w", asking: 0, wake: 0 };
  const ready = standingText({ ...standing, epoch: 0, head: 0, state: "ready", worker: "" });
  const claim = standingText({ ...standing, head: 0, state: "running" }, { first: 0, claim: true });
  const [finished, failed] = ["finished", "failed"].map((outcome) =>
    standingText({ ...standing, head: events, state: "done", outcome }, { first: 1, claim: false }),
  );
  const [asked, said] = [bytesOf(request), bytesOf(body)];
  const messagesOf = (i) => {
    const run = `old_${i}`;
    const origin = originText({
      agent: `agent-${i % 10}`,
      tenant: `tenant-${i % 100}`,
      session: `session-${i % 10000}`,
    });
    const [subject, changed] = [names.run(run, "q"), names.run(run, "x")];
    return [
      { subject, headers: `V: ${ready}\r\nQ: ${origin}\r\n`, data: asked },
      { subject: changed, headers: `V: ${claim}\r\n`, data: empty },
      { subject: changed, headers: `V: ${i % 20_000 === 0 ? failed : finished}\r\n`, data: said },
    ];
  };
  let next = from + 1;
  const work = async () => {
    while (next <= to) {
      const first = next;
      next = Math.min(to, first + 332) + 1;
      const messages = Array.from({ length: next - first }, (_, n) => messagesOf(first + n)).flat();
      const ack = await store.send("rows", messages);
      if (ack.kind !== "stored") throw new Error(`not stored: ${ack.why ?? ack.kind}`);
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
}
