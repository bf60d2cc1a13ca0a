import { createHash } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { ServiceProcess } from "../edges/service-process.ts";
import { attacks, Loud } from "./attacks.ts";
import type { Probe, Probed } from "./prober.ts";

// A quiet tenant's runs beside each attack of a loud one, on one process and on two: never past five times its idle p99, nor 2 s.
const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "6" },
    processes: { type: "string", multiple: true, default: ["1", "2"] },
    only: { type: "string" },
  },
});
const most = 2_000;
const factor = 5;

const sha256 = (key: string) => createHash("sha256").update(key).digest("hex");
const config = (port: number, processes: number) => `
version: 1
providers: { up: { type: openai, baseUrl: "http://127.0.0.1:${port}/v1", apiKey: none } }
tools: { pay: { type: module, path: ./pay.mjs, approval: always } }
agents:
  hello: { model: up/hello }
  cut: { model: up/cut }
  poison: { model: up/poison }
  ask: { model: up/ask, tools: [pay] }
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

interface Row {
  readonly attack: string;
  readonly runs: number;
  readonly p50: number;
  readonly p99: number;
  readonly failed: readonly string[];
  readonly waves: number;
}

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
  const service = await ServiceProcess.start({ "venturi.yaml": config(port, processes), "pay.mjs": pay });
  try {
    await probe(service.url, 2_000);
    const idle = rowOf("idle", await probe(service.url, Number(values.seconds) * 1_000), 0);
    const bound = Math.min(most, factor * idle.p99);
    print(`\n${processes} process${processes === 1 ? "" : "es"}; bound: ${Math.round(bound)} ms\n${line(idle, "")}`);
    for (const name of Object.keys(attacks)) {
      if (values.only !== undefined && !name.includes(values.only)) continue;
      const row = await during(service.url, name);
      const wrong = !service.alive
        ? "THE SERVICE ENDED"
        : row.failed.length > 0
          ? `${row.failed.length} FAILED: ${row.failed[0]}`
          : row.p99 > bound
            ? "TOO SLOW"
            : "";
      if (wrong !== "") broken += 1;
      print(line(row, wrong));
      if (!service.alive) break;
      await sleep(1_000);
    }
  } finally {
    await service.stop();
  }
}
await Promise.all([upstream.terminate(), prober.terminate()]);
print(broken === 0 ? "\nall within the bound" : `\n${broken} beyond the bound`);
process.exit(broken === 0 ? 0 : 1);

async function during(url: string, name: string): Promise<Row> {
  const attack = attacks[name];
  const loud = new Loud(url, "loud");
  const prepared = await attack?.prepare?.(loud).catch(() => undefined);
  await sleep(500);
  let over = false;
  let waves = 0;
  const attacking = (async () => {
    while (!over) {
      await attack?.again(loud, prepared).catch(() => {}); // refusing it is right
      waves += 1;
      await sleep(20);
    }
  })();
  const probed = await probe(url, Number(values.seconds) * 1_000);
  over = true;
  await attacking;
  return rowOf(name, probed, waves);
}

function rowOf(attack: string, { times, failed }: Probed, waves: number): Row {
  const sorted = times.toSorted((left, right) => left - right);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { attack, runs: times.length, p50: at(0.5), p99: at(0.99), failed, waves };
}

function line({ attack, runs, p50, p99, waves }: Row, wrong: string): string {
  const figures = [runs, p50, p99, waves].map((value) => String(Math.round(value)).padStart(7)).join(" ");
  return `${attack.padEnd(32)}${figures}  ${wrong}`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
