import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { SqliteJournal } from "../../plugins/sqlite/journal.ts";
import type { Journal } from "../../src/core/journal/journal.ts";
import { NatsCluster } from "../plugins/nats/cluster.ts";
import { openJournal as openNatsJournal } from "../plugins/nats/open.ts";
import { Cluster } from "../plugins/postgres/cluster.ts";
import { openJournal } from "../plugins/postgres/open.ts";

/** An engine that can be taken away and given back. */
export interface Engine {
  readonly journal: Readonly<Record<string, unknown>>;
  down(): Promise<void>;
  up(): Promise<void>;
  open(): Promise<Journal>;
  close(): Promise<void>;
}

export async function postgresEngine(): Promise<Engine> {
  const cluster = await Cluster.start();
  return {
    journal: { type: "postgres", url: cluster.url },
    down: () => cluster.crash(),
    up: () => cluster.up(),
    open: async () => openJournal(cluster.url, "venturi"),
    close: () => cluster.stop(),
  };
}

/** All its servers at once. */
export async function natsEngine(size: 1 | 3): Promise<Engine> {
  const cluster = await NatsCluster.start({ size });
  const all = [...cluster.ports.keys()];
  const { servers, monitors } = cluster;
  return {
    journal: { type: "nats", servers, monitors, replicas: size },
    async down() {
      await Promise.all(all.map((n) => cluster.kill(n)));
    },
    async up() {
      for (const n of all) cluster.up(n);
    },
    open: () => openNatsJournal(cluster, "venturi"),
    close: () => cluster.stop(),
  };
}

const locker = `
  const { DatabaseSync } = require("node:sqlite");
  const database = new DatabaseSync(process.argv[1], { timeout: 5000 });
  database.exec("BEGIN EXCLUSIVE");
  console.log("locked");
  setInterval(() => {}, 1000);
`;

/** Another process keeps the file to itself, until it is killed. */
export async function sqliteEngine(folder: string): Promise<Engine> {
  const file = join(folder, "runs.db");
  let holder: ChildProcess | undefined;
  const up = async () => {
    if (!holder) return;
    const gone = once(holder, "exit");
    holder.kill("SIGKILL");
    holder = undefined;
    await gone;
  };
  return {
    journal: { type: "sqlite", path: file },
    async down() {
      holder = spawn(process.execPath, ["--no-warnings", "-e", locker, file], { stdio: ["ignore", "pipe", "inherit"] });
      if (holder.stdout) await once(holder.stdout, "data");
    },
    up,
    open: async () => new SqliteJournal({ file, lease: 5_000, busyTimeout: 5_000, watch: 50 }),
    close: up,
  };
}
