import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProcessState } from "../../src/host/processes/protocol.ts";
import { checkAll } from "../chaos/check.ts";
import { followAll } from "../chaos/clients.ts";
import { type Engine, postgresEngine, sqliteEngine } from "../chaos/engines.ts";
import { Random } from "../chaos/random.ts";
import { Replica } from "../chaos/replica.ts";

export interface WorkersOptions {
  readonly engine: "sqlite" | "postgres";
  readonly processes: number;
  readonly kills: number;
  /** Streams at the same time. */
  readonly streams: number;
  readonly seed: number;
}

export interface WorkersReport {
  readonly engine: string;
  readonly seed: number;
  readonly kills: number;
  readonly runs: number;
  readonly events: number;
  readonly reconnects: number;
  readonly takenOver: number;
  /** From a kill to the claim of its last run by a sibling, ms. */
  readonly takeover: { readonly p50: number; readonly max: number };
  readonly seconds: number;
  readonly violations: readonly string[];
}

const takeoverLimit = 3_000;

/** A service of several processes, of which one after the other is killed under its streams. */
export async function killWorkers(options: WorkersOptions): Promise<WorkersReport> {
  const folder = mkdtempSync(join(tmpdir(), "venturi-workers-"));
  const settings = { type: options.engine, jumps: false, servers: 1 } as const;
  const engine = await (options.engine === "sqlite" ? sqliteEngine(folder, settings) : postgresEngine(settings));
  const effects = join(folder, "effects");
  writeFileSync(effects, "");
  // The default lease: what is quick here is not quick because of it.
  const journal = { ...(await engine.config(0)), lease: "5s" };
  const { processes } = options;
  const service = await Replica.make("service", { folder, effects, journal, processes });
  try {
    await service.start();
    await engine.audit();
    return await killUnderLoad(options, { engine, service, effects });
  } finally {
    await service.stop();
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Scene {
  readonly engine: Engine;
  readonly service: Replica;
  readonly effects: string;
}

async function killUnderLoad(options: WorkersOptions, { engine, service, effects }: Scene): Promise<WorkersReport> {
  const started = performance.now();
  let kills = 0;
  const over = () => kills >= options.kills;
  const takeovers: number[] = [];
  const killing = (async () => {
    const random = new Random(options.seed);
    while (!over()) {
      const victim = random.pick(await readyProcesses(service, options.processes));
      await new Promise((resolve) => setTimeout(resolve, random.between(50, 500)));
      process.kill(victim.pid, "SIGKILL");
      kills += 1;
      takeovers.push(await untilTakenOver(engine, victim.pid, service));
    }
  })();
  const more = (number: number) => number < options.streams || !over();
  const clients = followAll([service.url], { clients: options.streams, seed: options.seed, patience: 180_000, more });
  const [reports] = await Promise.all([clients, killing]);
  const checked = await checkAll(engine, reports, effects);
  const late = takeovers
    .filter((ms) => ms > takeoverLimit)
    .map((ms) => `the runs of a killed process were taken over after ${ms} ms`);
  const violations = [...late, ...checked.violations];
  const sorted = [...takeovers].sort((left, right) => left - right);
  return {
    engine: options.engine,
    seed: options.seed,
    kills,
    runs: reports.length,
    events: reports.reduce((sum, { events }) => sum + events.length, 0),
    reconnects: reports.reduce((sum, { reconnects }) => sum + reconnects, 0),
    takenOver: checked.takenOver,
    takeover: { p50: sorted[sorted.length >> 1] ?? 0, max: sorted.at(-1) ?? 0 },
    seconds: Math.round((performance.now() - started) / 100) / 10,
    violations,
  };
}

/** At least two, so that a sibling is there to take over. */
async function readyProcesses(service: Replica, processes: number): Promise<ProcessState[]> {
  for (;;) {
    const answer = await fetch(`${service.url}/readyz`, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
    const states = answer?.ok ? (((await answer.json()) as { processes?: ProcessState[] }).processes ?? []) : [];
    const ready = states.filter(({ status }) => status === "ready");
    if (ready.length >= Math.min(2, processes)) return ready;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Until no run is under the dead process's name any more. */
async function untilTakenOver(engine: Engine, pid: number, service: Replica): Promise<number> {
  const at = performance.now();
  while (((await engine.heldBy?.(`${pid}-`)) ?? 0) > 0) {
    if (performance.now() - at > 60_000) throw new Error(`nobody took over from ${pid}: ${service.said}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return Math.round(performance.now() - at);
}
