import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkEffects, checkRun } from "./check.ts";
import { type ClientReport, follow } from "./client.ts";
import { type Engine, postgresEngine, sqliteEngine } from "./engines.ts";
import { mutantOf } from "./mutant.ts";
import { Random } from "./random.ts";
import { Replica } from "./replica.ts";

export interface ChaosOptions {
  readonly engine: "sqlite" | "postgres";
  readonly runs: number;
  readonly clients: number;
  readonly seed: number;
  /** Takes the epoch check out of a copy of the journal: the test must notice. */
  readonly unfenced?: boolean;
  /** Longest one run may take, ms. */
  readonly patience?: number;
}

export interface ChaosReport {
  readonly engine: string;
  readonly seed: number;
  readonly runs: number;
  readonly events: number;
  readonly reconnects: number;
  /** Runs that more than one epoch wrote to. */
  readonly takenOver: number;
  readonly retractions: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly seconds: number;
  readonly violations: readonly string[];
}

const kinds = ["plain", "tools", "approval"];

/** Three replicas of the real service, everything that can happen to them, and clients that notice. */
export async function chaos(options: ChaosOptions): Promise<ChaosReport> {
  const folder = mkdtempSync(join(tmpdir(), "venturi-chaos-"));
  const mutant = options.unfenced ? mutantOf(options.engine) : undefined;
  const type = mutant?.type ?? options.engine;
  const engine = options.engine === "sqlite" ? await sqliteEngine(folder, type) : await postgresEngine(type);
  const replicas: Replica[] = [];
  try {
    const effects = join(folder, "effects");
    writeFileSync(effects, "");
    for (const index of [0, 1, 2]) {
      const journal = await engine.config(index);
      const plugins = mutant ? { plugins: [mutant.path] } : {};
      replicas.push(await Replica.make(`replica-${index}`, { folder, effects, journal, ...plugins }));
    }
    await Promise.all(replicas.map((replica) => replica.start()));
    return await unleash({ options, engine, replicas, effects });
  } finally {
    await Promise.all(replicas.map((replica) => replica.kill()));
    await engine.close();
    mutant?.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Scene {
  readonly options: ChaosOptions;
  readonly engine: Engine;
  readonly replicas: readonly Replica[];
  readonly effects: string;
}

async function unleash(scene: Scene): Promise<ChaosReport> {
  const { options, engine, replicas, effects } = scene;
  const started = performance.now();
  const urls = replicas.map((replica) => replica.url);
  const over = new AbortController();
  const trouble = makeTrouble(scene, over.signal);
  const reports: ClientReport[] = [];
  let next = 0;
  const client = async () => {
    while (next < options.runs) {
      const number = next++;
      const own = new Random(options.seed * 1_000_003 + number);
      const deadline = Date.now() + (options.patience ?? 90_000);
      reports.push(await follow(urls, `${own.pick(kinds)} ${number}`, own, deadline));
    }
  };
  await Promise.all(Array.from({ length: options.clients }, client));
  over.abort();
  const faults = await trouble;

  const journal = await engine.open();
  const violations: string[] = [];
  let takenOver = 0;
  for (const report of reports) {
    const epochs = await engine.epochs(report.run);
    if (new Set(epochs).size > 1) takenOver += 1;
    violations.push(...(await checkRun(journal, report, epochs)));
  }
  await journal.close();
  violations.push(...checkEffects(effects, reports));
  const count = (pick: (report: ClientReport) => number) => reports.reduce((sum, report) => sum + pick(report), 0);
  return {
    engine: options.engine,
    seed: options.seed,
    runs: reports.length,
    events: count(({ events }) => events.length),
    reconnects: count(({ reconnects }) => reconnects),
    takenOver,
    retractions: count(({ events }) => events.filter((event) => event.type === "round.retracted").length),
    faults,
    seconds: Math.round((performance.now() - started) / 100) / 10,
    violations,
  };
}

type Fault = (random: Random) => Promise<void>;

/** Trouble with the replicas and trouble with the engine, side by side. At the end everyone is up and awake. */
async function makeTrouble(scene: Scene, signal: AbortSignal): Promise<Record<string, number>> {
  const { engine, replicas, options } = scene;
  const counts: Record<string, number> = {};
  const repeat = async (faults: Readonly<Record<string, Fault>>, random: Random) => {
    while (!signal.aborted) {
      await pause(random.between(50, 800));
      const name = random.pick(Object.keys(faults));
      await faults[name]?.(random);
      counts[name] = (counts[name] ?? 0) + 1;
    }
  };
  await Promise.all([
    repeat(replicaFaults(replicas), new Random(options.seed + 1)),
    repeat(engine.faults, new Random(options.seed + 2)),
  ]);
  return counts;
}

const replicaFaults = (replicas: readonly Replica[]): Record<string, Fault> => ({
  async kill(random) {
    const victim = random.pick(replicas);
    await victim.kill();
    await victim.start();
  },
  /** Longer than the lease more often than not: it wakes as a zombie. */
  async freeze(random) {
    const victim = random.pick(replicas);
    victim.freeze();
    await pause(random.between(500, 4_000));
    victim.thaw();
  },
});

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
