// What one commit costs, by how many runs and events it holds, in ms: `node bench/commit.mjs [--length 100] [--engine sqlite]`, the records that
// each run has before. SQLite: encoding, crossing over to its thread, and what the thread does (fsync on). PostgreSQL:
// encoding, until the answer is there, and of that the server's processor time (Linux). Medians of 50.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import pg from "pg";
import * as postgres from "../dist/plugins/postgres/rows.js";
import { statements } from "../dist/plugins/postgres/sql.js";
import { toColumns } from "../dist/plugins/sqlite/rows.js";
import { migrate } from "../dist/plugins/sqlite/schema.js";
import { Store } from "../dist/plugins/sqlite/store.js";
import { Cluster } from "../dist/test/plugins/postgres/cluster.js";
import { openJournal } from "../dist/test/plugins/postgres/open.js";

const { values } = parseArgs({
  options: {
    length: { type: "string", default: "100" },
    engine: { type: "string", multiple: true, default: ["sqlite", "postgres"] },
  },
});
/** Records a run has before it is measured. */
const length = Number(values.length);
const sizes = [
  [20, 1],
  [100, 1],
  [400, 1],
  [1000, 1],
  [1000, 3],
];
if (values.engine.includes("sqlite")) await sqlite();
if (values.engine.includes("postgres")) await postgresql();

async function sqlite() {
  const { port1, port2 } = new MessageChannel();

  const folder = mkdtempSync(join(tmpdir(), "venturi-commit-"));
  const database = new DatabaseSync(join(folder, "j.db"));
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 2000");
  migrate(database);
  const store = new Store(database, { lease: 60_000, busyTimeout: 5_000 });
  const enqueue = {
    tenant: "default",
    session: null,
    agent: "a",
    caller: null,
    revision: null,
    request: "{}",
    key: null,
    refuseBusy: false,
    most: null,
    claimFor: "bench",
  };
  await table("sqlite", {
    open: (run) => {
      store.enqueue([{ ...enqueue, run }]);
      return { run, epoch: 1, head: 0 };
    },
    commit: (batch, parts) => {
      const columns = parts("encode", () => toColumns(batch, "none"));
      const crossed = parts("cross", () => {
        port1.postMessage(columns);
        return receiveMessageOnPort(port2).message;
      });
      const done = parts("write", () => store.append(crossed));
      if (done?.fenced.length > 0) throw new Error("fenced");
    },
  });
  database.close();
  port1.close();
  rmSync(folder, { recursive: true });
}

async function postgresql() {
  const cluster = await Cluster.start("on", { shared_buffers: "128MB" });
  const journal = openJournal(cluster.url, "bench", { pool: 2 });
  await journal.heartbeat("bench");
  const client = new pg.Client(cluster.url);
  await client.connect();
  const { rows } = await client.query("SELECT pg_backend_pid() AS pid");
  const text = statements("bench").append;
  await table("postgres", {
    open: async (run) => {
      const item = {
        run,
        tenant: "default",
        session: undefined,
        request: { agent: "a", input: {} },
        claimFor: "bench",
      };
      return (await journal.enqueue(item)).claim.ownership;
    },
    commit: async (batch, parts) => {
      const columns = parts("encode", () => postgres.toColumns(batch));
      const question = { name: "append", text, values: [...columns, "channel", "payload"] };
      const answer = await parts("ask", () => client.query(question));
      if (answer.rows[0].moved !== batch.length) throw new Error("fenced");
    },
    server: () => Number(readFileSync(`/proc/${rows[0].pid}/schedstat`, "utf8").split(" ")[0]) / 1e6,
  });
  await client.end();
  await journal.close();
  await cluster.stop();
}

async function table(name, { open, commit, server }) {
  const owners = await Promise.all(Array.from({ length: 1000 }, (_, number) => open(`run_${number}`)));
  let at = 0;
  const batchOf = (runs, events) =>
    Array.from({ length: runs }, () => {
      const ownership = owners[at++ % owners.length];
      const seqs = Array.from({ length: events }, (_, n) => ownership.head + n + 1);
      const about = {
        type: "text.delta",
        round: 1,
        text: " and some text of a model",
        run: ownership.run,
        at: Date.now(),
      };
      return { ownership, events: seqs.map((seq) => ({ ...about, seq })) };
    });
  const put = async ([runs, events], parts) => {
    const batch = batchOf(runs, events);
    await commit(batch, parts);
    for (const item of batch) item.ownership.head += events;
  };
  for (let n = 0; n < length; n++) await put([1000, 1], (_, work) => work());
  for (const size of sizes) {
    const spent = {};
    const parts = (part, work) => {
      const start = performance.now();
      const end = () => {
        spent[part] ??= [];
        spent[part].push(performance.now() - start);
      };
      const result = work();
      if (result instanceof Promise) return result.finally(end);
      end();
      return result;
    };
    const before = server?.() ?? 0;
    for (let n = 0; n < 50; n++) await put(size, parts);
    const median = (list) => list.toSorted((left, right) => left - right)[list.length >> 1].toFixed(2);
    const medians = Object.entries(spent).map(([part, list]) => `${part} ${median(list)}`);
    const servers = server ? `, of it processor of the server ${((server() - before) / 50).toFixed(2)}` : "";
    console.log(`${name}, ${size[0]} runs × ${size[1]}: ${medians.join(", ")}${servers}`);
  }
}
