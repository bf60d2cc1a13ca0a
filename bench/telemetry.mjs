// What measuring costs: the same stream through the whole pipeline (bytes, frames, deltas, loop, journal, follower) with
// telemetry off, as metrics, events, spans and spans as the SDK's objects, exported over OTLP to a collector in another process.
// What a run costs in all is printed too: CPU beyond the first mode, bytes sent, and the most memory in use while it streams.
//   node bench/telemetry.mjs [--json] [--chunks 1000] [--runs 60] [--rounds 7] [--per-write 4] [--modes off,spans]
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { openHost } from "../dist/src/host/open.js";

const { values } = parseArgs({
  options: {
    modes: { type: "string", default: "off,metrics,events,spans,objects" },
    json: { type: "boolean", default: false },
    chunks: { type: "string", default: "1000" },
    runs: { type: "string", default: "60" },
    rounds: { type: "string", default: "7" },
    "per-write": { type: "string", default: "4" },
  },
});
const [chunks, runs, rounds] = [Number(values.chunks), Number(values.runs), Number(values.rounds)];
const modes = values.modes.split(",");
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

const servers = fork(new URL("telemetry-servers.mjs", import.meta.url), [values.chunks, values["per-write"]]);
const [ports] = await once(servers, "message");
const folder = await mkdtemp(join(tmpdir(), "venturi-bench-"));
const hosts = new Map();
for (const mode of modes) hosts.set(mode, await open(mode));

const cost = new Map(modes.map((mode) => [mode, []]));
for (const mode of modes) await stretch(hosts.get(mode)); // warm
for (let round = 0; round < rounds; round++)
  for (const mode of modes) cost.get(mode).push(await stretch(hosts.get(mode)));

const of = (mode, what) => median(cost.get(mode).map((stretch) => stretch[what]));
const each = (value) => Object.fromEntries(modes.map((mode) => [mode, value(mode)]));
const microseconds = each((mode) => of(mode, "microseconds"));
// Of the same round: what else the machine does then slows both.
const ratios = each((mode) =>
  median(cost.get(mode).map(({ microseconds }, round) => microseconds / cost.get(modes[0])[round].microseconds)),
);
const bytes = each((mode) => of(mode, "bytes"));
const memory = {};
for (const mode of modes) memory[mode] = await memoryOf(hosts.get(mode));
if (values.json) console.log(JSON.stringify({ chunks, runs, rounds, microseconds, ratios, bytes, memory }));
else {
  console.log(
    `${chunks} chunks a run, ${runs} runs a stretch, median of ${rounds} interleaved stretches, Node ${process.version}`,
  );
  console.log("telemetry   CPU µs/chunk   ratio   more CPU ms/run   OTLP kB/run   bytes/chunk   memory MB");
  for (const mode of modes) {
    const more = ((microseconds[mode] - microseconds[modes[0]]) * chunks) / 1_000;
    const columns = [
      [microseconds[mode].toFixed(2), 13],
      [ratios[mode].toFixed(2), 7],
      [more.toFixed(1), 17],
      [(bytes[mode] / 1e3).toFixed(0), 13],
      [(bytes[mode] / chunks).toFixed(0), 13],
      [(memory[mode] / 1e6).toFixed(1), 11],
    ];
    console.log(mode.padEnd(10), columns.map(([text, width]) => text.padStart(width)).join(" "));
  }
}
for (const host of hosts.values()) await host.close();
await rm(folder, { recursive: true });
servers.disconnect();

async function open(mode) {
  const telemetry = ["off", "objects"].includes(mode)
    ? "off"
    : `{ chunks: ${mode}, otlp: "http://127.0.0.1:${ports.collector}", logs: { level: silent } }`;
  const configFile = join(folder, `${mode}.yaml`);
  await writeFile(
    configFile,
    `version: 1
providers: { model: { type: openai, apiKey: none, baseUrl: "http://127.0.0.1:${ports.model}" } }
agents: { teller: { model: model/small, instructions: "Tell." } }
journal: { type: memory }
channels: {}
telemetry: ${telemetry}
`,
  );
  if (mode !== "objects") return openHost({ configFile, env: {} });
  // A processor of one's own makes every chunk a span object of the SDK's: what spans would cost without columns.
  const { createTelemetry } = await import("../dist/src/index.js");
  const nothing = { onStart() {}, onEnd() {}, forceFlush: async () => {}, shutdown: async () => {} };
  const otlp = { endpoint: `http://127.0.0.1:${ports.collector}`, headers: {} };
  const measured = await createTelemetry({ otlp, logs: { level: "silent" } }, { spanProcessors: [nothing] });
  return openHost({ configFile, env: {}, telemetry: measured });
}

async function received() {
  servers.send("how much");
  const [answer] = await once(servers, "message");
  return answer.received;
}

/** CPU microseconds of this process per chunk, the export included, and bytes sent per run. */
async function stretch(host) {
  const sent = await received();
  const before = process.cpuUsage();
  for (let run = 0; run < runs; run++) await whole(host, () => {});
  await host.telemetry.flush();
  const { user, system } = process.cpuUsage(before);
  return {
    microseconds: (user + system) / (runs * chunks),
    bytes: ((await received()) - sent) / runs,
  };
}

/** The most that was in use during one run, on the heap and in buffers, beyond what was before: its journal, its spans, the queue. */
async function memoryOf(host) {
  const before = inUse();
  let most = 0;
  let batches = 0;
  await whole(host, () => {
    if (batches++ % 50 === 0) most = Math.max(most, inUse() - before);
  });
  return Math.max(most, inUse() - before);
}

function inUse() {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

async function whole(host, onBatch) {
  const started = await host.runs.start({ agent: "teller", input: { text: "go" } });
  let last;
  for await (const batch of host.runs.follow(started.run)) {
    last = batch.at(-1);
    onBatch();
  }
  if (last?.type !== "run.finished") throw new Error(JSON.stringify(last));
}

function median(list) {
  const sorted = [...list].sort((left, right) => left - right);
  return sorted[sorted.length >> 1];
}
