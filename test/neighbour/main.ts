import { createHash } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { ServiceProcess } from "../edges/service-process.ts";
import { type Attack, attacks, Loud } from "./attacks.ts";
import { Machine, Turns } from "./machine.ts";
import type { Probe, Probed } from "./prober.ts";

// A quiet tenant's runs beside each attack of a loud one, on one process and on two: never past five times its idle p99, nor 2 s.
// Idle is what it measures right before and right after, so that a busy machine is in both; an attack past the bound is measured
// again, because what it does it does each time. The longest turn of a main thread is in processor time: no load lengthens it.
const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "6" },
    processes: { type: "string", multiple: true, default: ["1", "2"] },
    idle: { type: "string", default: "2" },
    only: { type: "string" },
  },
});
const most = 2_000;
const factor = 5;
/** Of a main thread, ms of processor time. */
const longestTurn = 100;
const attempts = 3;

const sha256 = (key: string) => createHash("sha256").update(key).digest("hex");
const config = (port: number, processes: number) => `
version: 1
providers: { up: { type: openai, baseUrl: "http://127.0.0.1:${port}/v1", apiKey: none } }
tools:
  pay: { type: module, path: ./pay.mjs, approval: always }
  large: { type: module, path: ./large.mjs }
agents:
  hello: { model: up/hello }
  cut: { model: up/cut }
  poison: { model: up/poison }
  ask: { model: up/ask, tools: [pay] }
  fetch: { model: up/fetch, tools: [large] }
journal: { type: sqlite, path: ./runs.db }
channels: { http: {}, anthropic: {}, ai-sdk: {}, ag-ui: {} }
server:
  listen: 0
  processes: ${processes}
  auth:
    keys:
      - { id: quiet, sha256: ${sha256("quiet")} }
      - { id: loud, sha256: ${sha256("loud")}, may: [start, see, steer, approve, inspect] }
telemetry: { logs: { format: json } }
`;
const pay = `export default { description: "Pays", parameters: { type: "object" }, effect: "effectful", call: () => "paid" };`;

const large = `let calls = 0;
export default { description: "Reads much", parameters: { type: "object" }, effect: "pure", call: () => (calls++ + " lorem ipsum\\n").repeat(500_000) };`;

interface Measuring {
  readonly service: ServiceProcess;
  readonly turns: Turns;
}

interface Row {
  readonly idle: Probed;
  readonly during: Probed;
  /** Of the attack. */
  readonly waves: number;
  /** The longest of a main thread, ms of processor time. */
  readonly turn: number;
  /** The machine meanwhile. */
  readonly around: string;
}

const heading = `\n${" ".repeat(35)}idle    idle\n${"".padEnd(32)}${["p50", "p99", "runs", "p50", "p99", "waves", "turn"].map((name) => name.padStart(7)).join(" ")}`;

const upstream = new Worker(new URL("./upstream.js", import.meta.url));
const [port] = (await once(upstream, "message")) as [number];
const prober = new Worker(new URL("./prober.js", import.meta.url));
const probe = async (url: string, ms: number): Promise<Probed> => {
  prober.postMessage({ url, key: "quiet", ms } satisfies Probe);
  const [probed] = (await once(prober, "message")) as [Probed];
  return probed;
};

let broken = 0;
for (const processes of values.processes.map(Number)) {
  const turns = new Turns();
  const files = { "venturi.yaml": config(port, processes), "pay.mjs": pay, "large.mjs": large };
  const service = await ServiceProcess.start(files, turns.env);
  try {
    await probe(service.url, 2_000);
    print(`\n${processes} process${processes === 1 ? "" : "es"}; ms${heading}`);
    for (const [name, attack] of Object.entries(attacks)) {
      if (values.only !== undefined && !name.includes(values.only)) continue;
      let wrong = "";
      let quietest = Number.POSITIVE_INFINITY;
      for (let attempt = 1; attempt <= attempts && service.alive; attempt++) {
        const row = await measured({ service, turns }, attack);
        // The lowest: an attempt must not pass because the machine was busier around it.
        quietest = Math.min(quietest, at(row.idle, 0.99));
        wrong = wrongIn(row, quietest, service.alive);
        print(line(attempt === 1 ? name : `  again (${attempt})`, row, wrong));
        if (wrong === "") break;
      }
      if (wrong !== "") broken += 1;
      if (!service.alive) break;
    }
  } finally {
    await service.stop();
    turns.remove();
  }
}
await Promise.all([upstream.terminate(), prober.terminate()]);
print(broken === 0 ? "\nall within the bound" : `\n${broken} beyond the bound`);
process.exit(broken === 0 ? 0 : 1);

async function measured({ service, turns }: Measuring, attack: Attack): Promise<Row> {
  const { url } = service;
  const loud = new Loud(url, "loud");
  const prepared = await attack.prepare?.(loud).catch(() => undefined);
  await sleep(500);
  const before = await probe(url, Number(values.idle) * 1_000);
  const machine = new Machine();
  const since = Date.now();
  let over = false;
  let waves = 0;
  const attacking = (async () => {
    while (!over) {
      await attack.again(loud, prepared).catch(() => {}); // refusing it is right
      waves += 1;
      await sleep(20);
    }
  })();
  const during = await probe(url, Number(values.seconds) * 1_000);
  over = true;
  await attacking;
  const turn = turns.longestSince(since);
  const around = machine.words();
  await sleep(1_000);
  const after = await probe(url, Number(values.idle) * 1_000);
  return { idle: joined(before, after), during, waves, turn, around };
}

function wrongIn({ during, turn }: Row, quietest: number, alive: boolean): string {
  if (!alive) return "THE SERVICE ENDED";
  if (during.failed.length > 0) return `${during.failed.length} FAILED: ${during.failed[0]}`;
  if (at(during, 0.99) > Math.min(most, factor * quietest)) return "TOO SLOW";
  return turn > longestTurn ? "TOO LONG A TURN" : "";
}

function line(name: string, { idle, during, waves, turn, around }: Row, wrong: string): string {
  const figures = [at(idle, 0.5), at(idle, 0.99), during.times.length, at(during, 0.5), at(during, 0.99), waves, turn];
  const columns = figures.map((value) => String(Math.round(value)).padStart(7)).join(" ");
  return `${name.padEnd(32)}${columns}   ${around}  ${wrong}`;
}

function at({ times }: Probed, share: number): number {
  const sorted = times.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function joined(one: Probed, other: Probed): Probed {
  return { times: [...one.times, ...other.times], failed: [...one.failed, ...other.failed] };
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
