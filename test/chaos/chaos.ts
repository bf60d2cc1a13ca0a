import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkAll } from "./check.ts";
import type { ClientReport } from "./client.ts";
import { followAll } from "./clients.ts";
import { type Engine, type EngineSettings, postgresEngine, sqliteEngine } from "./engines.ts";
import { makeTrouble } from "./faults.ts";
import type { Window } from "./journal.ts";
import { type Mutation, mutations } from "./mutant.ts";
import { natsEngine } from "./nats.ts";
import { type Cut, pluginCopy } from "./plugin-copy.ts";
import { Replica } from "./replica.ts";
import { sqliteSkew } from "./skew.ts";

export interface ChaosOptions {
  readonly engine: "sqlite" | "postgres" | "nats";
  readonly runs: number;
  readonly clients: number;
  readonly seed: number;
  /** Of a cluster, where the engine is one. */
  readonly servers?: 1 | 3;
  /** Takes checks out of a copy of the journal: the test must notice. */
  readonly mutation?: Mutation;
  /** The engine's clock jumps, too: seconds or an hour, forwards and backwards. */
  readonly jumps?: boolean;
  /** For how long there is trouble, ms; until the last run has ended when absent. */
  readonly trouble?: number;
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
  /** How often a zombie met a run whose new owner had not written yet, and what came of it. */
  readonly windows: Readonly<Partial<Record<Window, number>>>;
  readonly seconds: number;
  readonly violations: readonly string[];
}

const wrapper = fileURLToPath(new URL("./journal.js", import.meta.url));

/** Three replicas of the real service, everything that can happen to them, and clients that notice. */
export async function chaos(options: ChaosOptions): Promise<ChaosReport> {
  const folder = mkdtempSync(join(tmpdir(), "venturi-chaos-"));
  const cuts = cutsOf(options);
  const copy = cuts.length > 0 ? pluginCopy(options.engine, `chaos-${options.engine}`, cuts) : undefined;
  const { jumps = false, servers = 3 } = options;
  const settings = { type: copy?.type ?? options.engine, jumps, servers };
  const engine = await engines[options.engine](settings, folder);
  const replicas: Replica[] = [];
  try {
    const effects = join(folder, "effects");
    const windows = join(folder, "windows");
    for (const file of [effects, windows]) writeFileSync(file, "");
    const plugins = [wrapper, ...(copy ? [copy.path] : [])];
    for (const index of [0, 1, 2]) {
      const inner = await engine.config(index);
      const journal = { type: "chaos-journal", inner, seed: options.seed * 10 + index, file: windows };
      replicas.push(await Replica.make(`replica-${index}`, { folder, effects, journal, plugins }));
    }
    await Promise.all(replicas.map((replica) => replica.start()));
    await engine.audit();
    return await unleash({ options, engine, replicas, effects, windows });
  } finally {
    await Promise.all(replicas.map((replica) => replica.kill()));
    await engine.close();
    copy?.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

const engines: Readonly<Record<ChaosOptions["engine"], (settings: EngineSettings, folder: string) => Promise<Engine>>> =
  {
    sqlite: (settings, folder) => sqliteEngine(folder, settings),
    postgres: postgresEngine,
    nats: natsEngine,
  };

const cutsOf = ({ engine, mutation, jumps }: ChaosOptions): Cut[] => [
  ...(mutation ? mutations[engine][mutation] : []),
  ...(jumps && engine === "sqlite" ? sqliteSkew : []),
];

export interface Scene {
  readonly options: ChaosOptions;
  readonly engine: Engine;
  readonly replicas: readonly Replica[];
  readonly effects: string;
  readonly windows: string;
}

async function unleash(scene: Scene): Promise<ChaosReport> {
  const { options, engine, replicas, effects } = scene;
  const started = performance.now();
  const urls = replicas.map((replica) => replica.url);
  const over = new AbortController();
  const enough = options.trouble === undefined ? [] : [AbortSignal.timeout(options.trouble)];
  const trouble = makeTrouble(scene, AbortSignal.any([over.signal, ...enough]));
  const { clients, seed, patience, runs } = options;
  const reports = await followAll(urls, { clients, seed, patience, more: (number) => number < runs });
  over.abort();
  const faults = await trouble;

  const { violations, takenOver } = await checkAll(engine, reports, effects);
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
    windows: countLines(scene.windows),
    seconds: Math.round((performance.now() - started) / 100) / 10,
    violations,
  };
}

function countLines(file: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const line of readFileSync(file, "utf8").split("\n").filter(Boolean)) counts[line] = (counts[line] ?? 0) + 1;
  return counts;
}
