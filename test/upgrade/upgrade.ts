import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkAll } from "../chaos/check.ts";
import { followAll } from "../chaos/clients.ts";
import { postgresEngine, sqliteEngine } from "../chaos/engines.ts";
import { Replica } from "../chaos/replica.ts";

export interface UpgradeOptions {
  readonly engine: "sqlite" | "postgres";
  /** Command line of the old version. */
  readonly program: string;
  /** Streams at the same time. */
  readonly streams: number;
  readonly seed: number;
}

export interface UpgradeReport {
  readonly engine: string;
  readonly runs: number;
  /** Runs that both versions, or two replicas, wrote to. */
  readonly takenOver: number;
  readonly events: number;
  readonly seconds: number;
  readonly violations: readonly string[];
}

/** Two replicas of the old version over one journal, replaced by this one after the other under their streams. */
export async function upgrade({ engine: name, program, streams, seed }: UpgradeOptions): Promise<UpgradeReport> {
  const folder = mkdtempSync(join(tmpdir(), "venturi-upgrade-"));
  const settings = { type: name, jumps: false, servers: 1 } as const;
  const engine = await (name === "sqlite" ? sqliteEngine(folder, settings) : postgresEngine(settings));
  const effects = join(folder, "effects");
  writeFileSync(effects, "");
  const replicas: Replica[] = [];
  try {
    for (const index of [0, 1]) {
      const journal = await engine.config(index);
      const replica = await Replica.make(`replica-${index}`, { folder, effects, journal, program });
      await replica.start();
      replicas.push(replica);
    }
    await engine.audit();
    const started = performance.now();
    let over = false;
    const urls = replicas.map(({ url }) => url);
    const more = (number: number) => number < streams || !over;
    const clients = followAll(urls, { clients: streams, seed, patience: 180_000, more });
    for (const replica of replicas) {
      await pause(2_000);
      await replica.stop();
      await replica.upgrade();
    }
    await pause(2_000);
    over = true;
    const reports = await clients;
    const { violations, takenOver } = await checkAll(engine, reports, effects);
    return {
      engine: name,
      runs: reports.length,
      takenOver,
      events: reports.reduce((sum, { events }) => sum + events.length, 0),
      seconds: Math.round((performance.now() - started) / 100) / 10,
      violations,
    };
  } finally {
    await Promise.all(replicas.map((replica) => replica.kill()));
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
