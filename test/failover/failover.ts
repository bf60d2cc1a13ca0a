import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeEvent } from "../../src/core/events.ts";
import type { Journal } from "../../src/core/journal.ts";
import { checkEffects, checkRun } from "../chaos/check.ts";
import type { ClientReport } from "../chaos/client.ts";
import { followAll } from "../chaos/clients.ts";
import { Random } from "../chaos/random.ts";
import { Replica } from "../chaos/replica.ts";
import { openJournal } from "../plugins/postgres/open.ts";
import { ownershipOf } from "../plugins/postgres/ownership.ts";
import { type Failure, Pair, type Replication } from "./pair.ts";
import { longestSilence, watchReadiness } from "./watch.ts";

export interface FailoverOptions {
  readonly replication: Replication;
  readonly failures: readonly Failure[];
  readonly clients: number;
  readonly seed: number;
}

export interface FailoverReport {
  readonly runs: number;
  readonly events: number;
  /** Events a client was shown that the new primary does not have. */
  readonly lost: number;
  readonly reconnects: number;
  /** For each failure: the longest silence on a stream that stayed open, s. */
  readonly silences: readonly number[];
  /** For each replica: how long it said 503, s. */
  readonly unready: readonly (readonly number[])[];
  readonly seconds: number;
  readonly violations: readonly string[];
}

const schema = "failover";
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Three replicas of the real service, a primary that fails again and again, and clients that notice. */
export async function failover(options: FailoverOptions): Promise<FailoverReport> {
  const folder = mkdtempSync(join(tmpdir(), "venturi-failover-"));
  const pair = await Pair.start(options.replication);
  const replicas: Replica[] = [];
  try {
    const effects = join(folder, "effects");
    writeFileSync(effects, "");
    for (const [index, url] of [pair.hosts, pair.hosts, pair.address].entries()) {
      const journal = { type: "postgres", url, schema };
      replicas.push(await Replica.make(`replica-${index}`, { folder, effects, journal }));
    }
    await Promise.all(replicas.map((replica) => replica.start()));
    return await observe({ options, pair, replicas, effects });
  } finally {
    await Promise.all(replicas.map((replica) => replica.kill()));
    await pair.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Scene {
  readonly options: FailoverOptions;
  readonly pair: Pair;
  readonly replicas: readonly Replica[];
  readonly effects: string;
}

async function observe(scene: Scene): Promise<FailoverReport> {
  const { options, pair, replicas, effects } = scene;
  const started = performance.now();
  const urls = replicas.map((replica) => replica.url);
  const over = new AbortController();
  const watches = urls.map((url) => watchReadiness(url, over.signal));
  let failing = true;
  const { clients, seed } = options;
  const following = followAll(urls, { clients, seed, more: () => failing });

  const silences: number[] = [];
  const violations: string[] = [];
  const random = new Random(options.seed);
  for (const [index, failure] of options.failures.entries()) {
    if (index > 0) await pair.mend();
    await pause(1_000);
    const silence = longestSilence(urls[index % urls.length] ?? "");
    await pause(1_000);
    await pair.fail(failure, random.between(0, 1_500));
    try {
      silences.push(await silence);
    } catch (thrown) {
      violations.push(String(thrown));
    }
  }
  failing = false;
  const reports = await following;
  for (const [index, watch] of watches.entries()) {
    if (!watch.ready()) violations.push(`replica ${index} is not ready in the end`);
    if (watch.unready.length === 0) violations.push(`replica ${index} was ready all the time`);
  }
  over.abort();

  const journal = openJournal(pair.primary.url, schema);
  let lost = 0;
  for (const report of reports) {
    lost += await countLost(journal, report);
    violations.push(...(await checkRun(journal, report, await ownershipOf(pair.primary, schema, report.run))));
  }
  await journal.close();
  violations.push(...checkEffects(effects, reports));
  return {
    runs: reports.length,
    events: reports.reduce((sum, { events }) => sum + events.length, 0),
    lost,
    reconnects: reports.reduce((sum, { reconnects }) => sum + reconnects, 0),
    silences,
    unready: watches.map(({ unready }) => unready),
    seconds: Math.round((performance.now() - started) / 100) / 10,
    violations,
  };
}

async function countLost(journal: Journal, { run, events }: ClientReport): Promise<number> {
  const stored = await journal.read(run, 0, 100_000);
  return events.filter((event, index) => {
    const there = stored[index];
    return !there || encodeEvent(there) !== encodeEvent(event);
  }).length;
}
