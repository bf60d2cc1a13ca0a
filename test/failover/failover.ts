import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Journal } from "../../src/core/journal/journal.ts";
import { encodeEvent } from "../../src/core/run/encode-event.ts";
import { checkEffects, checkRun } from "../chaos/check.ts";
import type { ClientReport } from "../chaos/client.ts";
import { followAll } from "../chaos/clients.ts";
import type { Ownership } from "../chaos/engines.ts";
import { Random } from "../chaos/random.ts";
import { Replica } from "../chaos/replica.ts";
import type { Failure } from "./pair.ts";
import { longestSilence, watchReadiness } from "./watch.ts";

export interface FailoverOptions {
  readonly failures: readonly Failure[];
  readonly clients: number;
  readonly seed: number;
}

export interface FailoverReport {
  readonly runs: number;
  readonly events: number;
  /** Events a client was shown that are not there afterwards. */
  readonly lost: number;
  readonly reconnects: number;
  /** For each failure: the longest silence on a stream that stayed open, s. */
  readonly silences: readonly number[];
  /** For each replica: how long it said 503, s. */
  readonly unready: readonly (readonly number[])[];
  readonly seconds: number;
  readonly violations: readonly string[];
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** An engine that survives the loss of a server. */
export interface FailingEngine {
  /** The `journal:` entries of the replicas. */
  readonly journals: readonly Readonly<Record<string, unknown>>[];
  /** A failure leaves nobody who could write for a while, and every replica must say so. */
  readonly stopsAll: boolean;
  /** `delay`: how long it takes until someone does something about it, ms. */
  fail(failure: Failure, delay: number): Promise<void>;
  /** Whatever failed before is whole again. */
  mend(): Promise<void>;
  open(): Promise<Journal>;
  ownership(run: string): Promise<Ownership>;
  close(): Promise<void>;
}

/** Three replicas of the real service, a server that fails again and again, and clients that notice. */
export async function failover(engine: FailingEngine, options: FailoverOptions): Promise<FailoverReport> {
  const folder = mkdtempSync(join(tmpdir(), "venturi-failover-"));
  const replicas: Replica[] = [];
  try {
    const effects = join(folder, "effects");
    writeFileSync(effects, "");
    for (const [index, journal] of engine.journals.entries()) {
      replicas.push(await Replica.make(`replica-${index}`, { folder, effects, journal }));
    }
    await Promise.all(replicas.map((replica) => replica.start()));
    return await observe({ options, engine, replicas, effects });
  } finally {
    await Promise.all(replicas.map((replica) => replica.kill()));
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Scene {
  readonly options: FailoverOptions;
  readonly engine: FailingEngine;
  readonly replicas: readonly Replica[];
  readonly effects: string;
}

async function observe(scene: Scene): Promise<FailoverReport> {
  const { options, engine, replicas, effects } = scene;
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
    if (index > 0) await engine.mend();
    await pause(1_000);
    const silence = longestSilence(urls[index % urls.length] ?? "");
    await pause(1_000);
    await engine.fail(failure, random.between(0, 1_500));
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
    if (engine.stopsAll && watch.unready.length === 0) violations.push(`replica ${index} was ready all the time`);
  }
  over.abort();

  const journal = await engine.open();
  let lost = 0;
  for (const report of reports) {
    lost += await countLost(journal, report);
    violations.push(...(await checkRun(journal, report, await engine.ownership(report.run))));
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
