import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import type { Cluster } from "./cluster.ts";

/** A copy of a running primary that follows it; `port` is where it finds the primary. */
export async function standbyOf(primary: Cluster, port: number): Promise<Cluster> {
  const settings = { primary_conninfo: `host=127.0.0.1 port=${port} user=venturi application_name=standby` };
  return primary.beside(settings, async (data) => {
    const client = new pg.Client({ connectionString: primary.url });
    await client.connect();
    await client.query("SELECT pg_backup_start('standby', true)");
    copy(primary.data, data);
    const { rows } = await client.query<{ labelfile: string }>("SELECT labelfile FROM pg_backup_stop(false)");
    await client.end();
    writeFileSync(join(data, "backup_label"), rows[0]?.labelfile ?? "");
    writeFileSync(join(data, "standby.signal"), "");
  });
}

/** From now on nothing is committed that the standby does not have, too. */
export async function makeSynchronous(primary: Cluster): Promise<void> {
  await ask(primary, "ALTER SYSTEM SET synchronous_standby_names = '*'");
  await ask(primary, "SELECT pg_reload_conf()");
  await until(async () => {
    const rows = await ask(primary, "SELECT sync_state FROM pg_stat_replication");
    return rows[0]?.sync_state === "sync";
  });
}

export async function promote(standby: Cluster): Promise<void> {
  await ask(standby, "SELECT pg_promote(true, 30)");
}

export async function ask(cluster: Cluster, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error("the standby does not follow");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** What a base backup copies: all but the write-ahead log, which the standby streams. Files may vanish meanwhile. */
function copy(from: string, to: string): void {
  mkdirSync(to, { mode: 0o700 });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    if (entry.name === "postmaster.pid") continue;
    if (entry.name === "pg_wal") mkdirSync(join(to, entry.name), { mode: 0o700 });
    else if (entry.isDirectory()) copy(source, join(to, entry.name));
    else copyUnlessGone(source, join(to, entry.name));
  }
}

function copyUnlessGone(from: string, to: string): void {
  try {
    copyFileSync(from, to);
  } catch (thrown) {
    if (!(thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT")) throw thrown;
  }
}
