import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkEffects, checkRun } from "../chaos/check.ts";
import type { ClientReport } from "../chaos/client.ts";
import { followAll } from "../chaos/clients.ts";
import { Random } from "../chaos/random.ts";
import { Replica } from "../chaos/replica.ts";
import type { Cluster } from "../plugins/postgres/cluster.ts";
import { openJournal } from "../plugins/postgres/open.ts";
import { ownershipOf } from "../plugins/postgres/ownership.ts";
import type { Bouncer } from "./bouncer.ts";

export interface StreamingOptions {
  readonly cluster: Cluster;
  readonly bouncer: Bouncer;
  readonly runs: number;
  readonly clients: number;
  readonly seed: number;
}

export interface StreamingReport {
  readonly runs: number;
  readonly events: number;
  readonly reconnects: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly violations: readonly string[];
}

const schema = "streaming";
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Two replicas behind the pooler, and what can happen to pooler, database and replicas. */
export async function streaming(options: StreamingOptions): Promise<StreamingReport> {
  const folder = mkdtempSync(join(tmpdir(), "venturi-pooler-"));
  const effects = join(folder, "effects");
  const replicas: Replica[] = [];
  try {
    writeFileSync(effects, "");
    const times = { lease: "1500ms", timeout: "1500ms", connectTimeout: "1s" };
    const journal = { type: "postgres", url: options.bouncer.url, schema, pooler: true, ...times };
    for (const name of ["one", "two"]) replicas.push(await Replica.make(name, { folder, effects, journal }));
    await Promise.all(replicas.map((replica) => replica.start()));
    const over = new AbortController();
    const trouble = makeTrouble(options, replicas, over.signal);
    const reports = await followAll(
      replicas.map((replica) => replica.url),
      { clients: options.clients, seed: options.seed, more: (number) => number < options.runs },
    );
    over.abort();
    const faults = await trouble;
    const violations = [...(await check(options.cluster, reports)), ...checkEffects(effects, reports)];
    const events = reports.reduce((sum, report) => sum + report.events.length, 0);
    const reconnects = reports.reduce((sum, report) => sum + report.reconnects, 0);
    return { runs: reports.length, events, reconnects, faults, violations };
  } finally {
    await Promise.all(replicas.map((replica) => replica.kill()));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function makeTrouble(
  { cluster, bouncer, seed }: StreamingOptions,
  replicas: readonly Replica[],
  signal: AbortSignal,
): Promise<Record<string, number>> {
  const random = new Random(seed);
  const counts = { pooler: 0, database: 0, replica: 0 };
  const faults = {
    async pooler() {
      await bouncer.kill();
      await pause(random.between(0, 800));
      await bouncer.up();
    },
    async database() {
      await cluster.crash();
      await pause(random.between(0, 800));
      await cluster.up();
    },
    async replica() {
      const victim = random.pick(replicas);
      await victim.kill();
      await victim.start();
    },
  };
  const names = ["pooler", "database", "replica"] as const;
  for (let turn = 0; !signal.aborted; turn++) {
    await pause(random.between(300, 1_500));
    const name = names[turn % names.length] ?? "pooler";
    await faults[name]();
    counts[name] += 1;
  }
  return counts;
}

async function check(cluster: Cluster, reports: readonly ClientReport[]): Promise<string[]> {
  const journal = openJournal(cluster.url, schema);
  const violations: string[] = [];
  for (const report of reports) {
    violations.push(...(await checkRun(journal, report, await ownershipOf(cluster, schema, report.run))));
  }
  await journal.close();
  return violations;
}
