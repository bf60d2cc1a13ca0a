import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { SqliteJournal } from "../../plugins/sqlite/journal.ts";
import type { Journal } from "../../src/core/journal.ts";
import { Cluster } from "../plugins/postgres/cluster.ts";
import { openJournal } from "../plugins/postgres/open.ts";
import type { Random } from "./random.ts";
import { Wire } from "./wire.ts";

/** What a journal's engine can suffer, and how to look at it from outside. */
export interface Engine {
  /** The `journal:` entry of replica `index`. */
  config(index: number): Promise<Readonly<Record<string, unknown>>>;
  readonly faults: Readonly<Record<string, (random: Random) => Promise<void>>>;
  open(): Promise<Journal>;
  /** The epochs of a run's records, in order. */
  epochs(run: string): Promise<number[]>;
  close(): Promise<void>;
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export async function sqliteEngine(folder: string, type = "sqlite"): Promise<Engine> {
  const file = join(folder, "journal.db");
  const busyTimeout = 1_000;
  return {
    config: async () => ({ type, path: file, lease: "1500ms", busyTimeout }),
    faults: {
      /** Another process sits on the file. */
      async lock(random) {
        const other = new DatabaseSync(file, { timeout: 2_000 });
        try {
          other.exec("BEGIN IMMEDIATE");
          await pause(random.between(200, 2_000));
          other.exec("ROLLBACK");
        } catch {
          // it was locked by the replicas themselves for longer than this waits
        } finally {
          other.close();
        }
      },
    },
    open: async () => new SqliteJournal({ file, lease: 1_500, busyTimeout: 5_000, watch: 50 }),
    async epochs(run) {
      const database = new DatabaseSync(file, { readOnly: true });
      const rows = database.prepare(
        "SELECT epoch FROM records WHERE run = (SELECT id FROM runs WHERE run = ?) ORDER BY first",
      );
      const epochs = rows.all(run).map((row) => Number(row.epoch));
      database.close();
      return epochs;
    },
    close: async () => {},
  };
}

export async function postgresEngine(type = "postgres"): Promise<Engine> {
  const cluster = await Cluster.start();
  const proxies: Wire[] = [];
  const client = async () => {
    const opened = new pg.Client({ connectionString: cluster.url });
    await opened.connect();
    return opened;
  };
  return {
    async config() {
      const proxy = await Wire.to(cluster.port);
      proxies.push(proxy);
      const url = cluster.urlAt(proxy.port);
      return { type, url, schema: "chaos", lease: "1500ms", timeout: "1500ms", connectTimeout: "1s" };
    },
    faults: {
      async crash(random) {
        await cluster.crash();
        await pause(random.between(0, 1_000));
        await cluster.up();
      },
      async blackHole(random) {
        const proxy = random.pick(proxies);
        proxy.swallow();
        await pause(random.between(500, 3_500));
        proxy.pass();
      },
    },
    open: async () => openJournal(cluster.url, "chaos"),
    async epochs(run) {
      const opened = await client();
      const rows = await opened.query<{ epoch: number }>(
        "SELECT epoch FROM chaos.records WHERE run = (SELECT id FROM chaos.runs WHERE run = $1) ORDER BY first",
        [run],
      );
      await opened.end();
      return rows.rows.map((row) => row.epoch);
    },
    async close() {
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await cluster.stop();
    },
  };
}
