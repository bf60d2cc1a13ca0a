import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeEvent } from "../../src/core/run/encode-event.ts";
import { startRun } from "../chaos/attached.ts";
import { Replica, story } from "../chaos/replica.ts";
import { AttachedClient } from "./client.ts";
import { type Engine, natsEngine, postgresEngine, sqliteEngine } from "./engines.ts";
import { Readiness } from "./readiness.ts";

export interface OutageOptions {
  readonly engine: "sqlite" | "postgres" | "nats";
  /** Of a cluster, where the engine is one. */
  readonly servers: 1 | 3;
  readonly runs: number;
  /** How long the engine is away, ms. */
  readonly down: number;
}

export interface OutageReport {
  readonly engine: string;
  readonly runs: number;
  readonly finished: number;
  readonly events: number;
  readonly shownBefore: number;
  readonly reconnects: number;
  /** Runs whose first owner simply waited. */
  readonly waited: number;
  readonly reason: string;
  readonly newRunMeanwhile: number;
  readonly ms: Readonly<Record<"notReadyAfter" | "readyAgainAfter" | "firstEventAfter" | "slowestReadyz", number>>;
  readonly violations: readonly string[];
}

/** A real service whose engine is away for a while in the middle of its runs, with a client on each. */
export async function outage(options: OutageOptions): Promise<OutageReport> {
  const folder = mkdtempSync(join(tmpdir(), "venturi-outage-"));
  const effects = join(folder, "effects");
  writeFileSync(effects, "");
  const engine = await startEngine(options, folder);
  const replica = await Replica.make("service", { folder, effects, journal: engine.journal });
  try {
    await replica.start();
    return await watchOutage(options, engine, replica);
  } finally {
    await replica.kill();
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function startEngine({ engine, servers }: OutageOptions, folder: string): Promise<Engine> {
  if (engine === "nats") return natsEngine(servers);
  return engine === "sqlite" ? sqliteEngine(folder) : postgresEngine();
}

async function watchOutage(options: OutageOptions, engine: Engine, { url }: Replica): Promise<OutageReport> {
  const deadline = Date.now() + options.down + 120_000;
  const clients: AttachedClient[] = [];
  for (let count = 0; count < options.runs; count++)
    clients.push(new AttachedClient(url, await startRun(url, "story")));
  const following = clients.map((client) => client.follow(deadline));
  while (clients.some(({ events }) => events.length < 15)) await pause(20);
  const readiness = new Readiness(url);

  await engine.down();
  const down = performance.now();
  await pause(options.down / 2);
  const newRunMeanwhile = await startStatus(url);
  await pause(down + options.down - performance.now());
  const shownBefore = clients.reduce((sum, { events }) => sum + events.length, 0);
  await engine.up();
  const up = performance.now();
  await Promise.all(following);
  await pause(2_500);
  await readiness.stop();

  const meanwhile = readiness.answers.filter(({ at }) => at > down && at < up);
  const notReady = meanwhile.find(({ status, reason }) => status === 503 && reason !== "");
  const readyAgain = readiness.answers.find(({ at, status }) => at > up && status === 200);
  const next = clients.flatMap(({ times }) => times.filter((time) => time > up));
  const { violations, waited } = await compare(engine, clients);
  if (!notReady) violations.push("/readyz never said that the journal was away");
  if (newRunMeanwhile !== 503) violations.push(`a new run was answered with ${newRunMeanwhile} meanwhile`);
  if (!readyAgain) violations.push("/readyz never said that the journal was back");
  return {
    engine: options.engine,
    runs: clients.length,
    finished: clients.filter(({ events }) => events.at(-1)?.type === "run.finished").length,
    events: clients.reduce((sum, { events }) => sum + events.length, 0),
    shownBefore,
    reconnects: clients.reduce((sum, { reconnects }) => sum + reconnects, 0),
    waited,
    reason: meanwhile.at(-1)?.reason ?? "",
    newRunMeanwhile,
    ms: {
      notReadyAfter: Math.round((notReady?.at ?? Number.NaN) - down),
      readyAgainAfter: Math.round((readyAgain?.at ?? Number.NaN) - up),
      firstEventAfter: Math.round(Math.min(...next) - up),
      slowestReadyz: Math.round(Math.max(...readiness.answers.map(({ took }) => took))),
    },
    violations,
  };
}

/** What each client was shown is what stands there, to the end. */
async function compare(
  engine: Engine,
  clients: readonly AttachedClient[],
): Promise<{ violations: string[]; waited: number }> {
  const journal = await engine.open();
  const violations: string[] = [];
  let waited = 0;
  for (const { run, events, violations: seen } of clients) {
    violations.push(...seen);
    const stored = await journal.read(run, 0, 100_000);
    const other = events.findIndex((event, index) => {
      const there = stored[index];
      return there === undefined || encodeEvent(there) !== encodeEvent(event);
    });
    if (other >= 0) violations.push(`${run}: event ${other + 1} was shown but is not what is stored`);
    if (stored.length !== events.length) violations.push(`${run}: ${stored.length} stored, ${events.length} shown`);
    const last = events.at(-1);
    if (last?.type !== "run.finished") violations.push(`${run}: ended with ${last?.type}`);
    else if (last.output !== story) violations.push(`${run}: tells something else: ${last.output.slice(0, 80)}`);
    const told = events.map((event) => (event.type === "text.delta" ? event.text : "")).join("");
    if (told !== story) violations.push(`${run}: the deltas do not add up to the story`);
    if ((await journal.get(run))?.epoch === 1) waited += 1;
  }
  await journal.close();
  return { violations, waited };
}

/** A run that nobody can store is refused, and says so. */
async function startStatus(url: string): Promise<number> {
  const answer = await fetch(`${url}/v1/runs`, {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "respond-async" },
    body: JSON.stringify({ agent: "shop", input: { text: "plain" } }),
    signal: AbortSignal.timeout(25_000),
  }).catch(() => undefined);
  return answer?.status ?? 0;
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, Math.max(0, ms)));
