import { createHash } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { ServiceProcess } from "../edges/service-process.ts";
import type { Order } from "./attacker.ts";
import { attacks } from "./attacks.ts";
import { Machine, Turns } from "./machine.ts";
import type { Probe, Probed } from "./prober.ts";

// A quiet tenant's runs beside each attack of a loud one, on one process and on two: never past five times its idle p99, nor 2 s.
//
// Windows without and with the attack alternate, with as many runs in each, so that a busy machine is in both. The p99 is that of all
// runs of a kind: the second slowest of 150. An attack past the bound is measured again, because what it does it does each time.
// The longest turn of a main thread is in processor time: no load lengthens it.
const { values } = parseArgs({
  options: {
    processes: { type: "string", multiple: true, default: ["1", "2"] },
    windows: { type: "string", default: "3" },
    /** Runs in each window. */
    runs: { type: "string", default: "50" },
    only: { type: "string" },
  },
});
const most = 2_000;
const factor = 5;
/** Of a main thread, ms of processor time. */
const longestTurn = 100;
const attempts = 3;
/** Between two windows, ms: so long something of the attack may still be collected or closed. */
const pause = 100;

const sha256 = (key: string) => createHash("sha256").update(key).digest("hex");
/** What the loud one sends goes to a vendor of its own, so that the quiet one's is as quick as ever. */
const config = (ports: { quiet: number; loud: number }, processes: number) => `
version: 1
providers:
  up: { type: openai, baseUrl: "http://127.0.0.1:${ports.quiet}/v1", apiKey: none }
  large: { type: openai, baseUrl: "http://127.0.0.1:${ports.loud}/v1", apiKey: none }
tools:
  pay: { type: module, path: ./pay.mjs, approval: always }
  large: { type: module, path: ./large.mjs }
agents:
  quiet: { model: up/hello }
  hello: { model: large/hello }
  cut: { model: up/cut }
  poison: { model: up/poison }
  ask: { model: up/ask, tools: [pay] }
  fetch: { model: large/fetch, tools: [large] }
journal: { type: sqlite, path: ./runs.db }
channels: { http: {}, openai: {}, anthropic: {}, ai-sdk: {}, ag-ui: {}, websocket: {} }
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
  /** The largest process, MiB. */
  readonly size: number;
  /** The machine meanwhile. */
  readonly around: string;
}

const heading = `\n${" ".repeat(35)}idle    idle\n${"".padEnd(32)}${["p50", "p99", "runs", "p50", "p99", "waves", "turn", "MiB"].map((name) => name.padStart(7)).join(" ")}`;

const upstreams = ["quiet", "loud"].map(
  (workerData) => new Worker(new URL("./upstream.js", import.meta.url), { workerData }),
);
const [[quiet], [loud]] = (await Promise.all(upstreams.map((thread) => once(thread, "message")))) as [
  [number],
  [number],
];
const prober = new Worker(new URL("./prober.js", import.meta.url));
const attacker = new Worker(new URL("./attacker.js", import.meta.url));
const probe = async (url: string): Promise<Probed> => {
  prober.postMessage({ url, key: "quiet", runs: Number(values.runs) } satisfies Probe);
  const [probed] = (await once(prober, "message")) as [Probed];
  return probed;
};
/** Resolves with the waves of the attack so far. */
const order = async (what: Order): Promise<number> => {
  attacker.postMessage(what);
  const [waves] = (await once(attacker, "message")) as [number];
  return waves;
};

let broken = 0;
const began = performance.now();
for (const processes of values.processes.map(Number)) {
  const turns = new Turns();
  const files = { "venturi.yaml": config({ quiet, loud }, processes), "pay.mjs": pay, "large.mjs": large };
  const service = await ServiceProcess.start(files, turns.env);
  try {
    for (let warm = 0; warm < 2; warm++) await probe(service.url);
    print(`\n${processes} process${processes === 1 ? "" : "es"}; ms${heading}`);
    for (const name of Object.keys(attacks)) {
      if (values.only !== undefined && !name.includes(values.only)) continue;
      let wrong = "";
      for (let attempt = 1; attempt <= attempts && service.alive; attempt++) {
        const row = await measured({ service, turns }, name);
        wrong = wrongIn(row, service.alive);
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
await Promise.all([...upstreams, prober, attacker].map((thread) => thread.terminate()));
const minutes = ((performance.now() - began) / 60_000).toFixed(1);
print(`\n${broken === 0 ? "all within the bound" : `${broken} beyond the bound`}, after ${minutes} minutes`);
process.exit(broken === 0 ? 0 : 1);

async function measured({ service, turns }: Measuring, attack: string): Promise<Row> {
  const { url } = service;
  await order({ prepare: attack, url });
  const machine = new Machine();
  const idle: Probed = { times: [], failed: [] };
  const during: Probed = { times: [], failed: [] };
  let waves = 0;
  let turn = 0;
  let size = 0;
  for (let window = 0; window < Number(values.windows); window++) {
    await sleep(pause);
    add(idle, await probe(url));
    const since = Date.now();
    await order({ go: true });
    add(during, await probe(url));
    waves = await order({ stop: true });
    const { longest, largest } = turns.since(since);
    turn = Math.max(turn, longest);
    size = Math.max(size, largest);
  }
  return { idle, during, waves, turn, size, around: machine.words() };
}

function wrongIn({ idle, during, turn }: Row, alive: boolean): string {
  if (!alive) return "THE SERVICE ENDED";
  if (during.failed.length > 0) return `${during.failed.length} FAILED: ${during.failed[0]}`;
  if (at(during, 0.99) > Math.min(most, factor * at(idle, 0.99))) return "TOO SLOW";
  return turn > longestTurn ? "TOO LONG A TURN" : "";
}

function line(name: string, { idle, during, waves, turn, size, around }: Row, wrong: string): string {
  const figures = [
    at(idle, 0.5),
    at(idle, 0.99),
    during.times.length,
    at(during, 0.5),
    at(during, 0.99),
    waves,
    turn,
    size,
  ];
  const columns = figures.map((value) => String(Math.round(value)).padStart(7)).join(" ");
  return `${name.padEnd(32)}${columns}   ${around}  ${wrong}`;
}

function at({ times }: Probed, share: number): number {
  const sorted = times.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function add(to: Probed, { times, failed }: Probed): void {
  to.times.push(...times);
  to.failed.push(...failed);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
