// What measuring costs: the same stream through the whole pipeline (bytes, frames, deltas, loop, journal, follower) with
// telemetry off, as metrics, events, spans and spans as the SDK's objects, exported over OTLP to a collector in another process.
//   node bench/telemetry.mjs [--json] [--chunks 1000] [--runs 60] [--rounds 7] [--per-write 4] [--modes off,spans]
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
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

const servers = fork(new URL("telemetry-servers.mjs", import.meta.url), [values.chunks, values["per-write"]]);
const [ports] = await once(servers, "message");
const folder = await mkdtemp(join(tmpdir(), "venturi-bench-"));
const hosts = new Map();
for (const mode of modes) hosts.set(mode, await open(mode));

const cost = new Map(modes.map((mode) => [mode, []]));
for (const mode of modes) await stretch(hosts.get(mode)); // warm
for (let round = 0; round < rounds; round++)
  for (const mode of modes) cost.get(mode).push(await stretch(hosts.get(mode)));

const microseconds = Object.fromEntries(modes.map((mode) => [mode, median(cost.get(mode))]));
const ratios = Object.fromEntries(modes.map((mode) => [mode, microseconds[mode] / microseconds[modes[0]]]));
servers.send("how much");
const [{ received }] = await once(servers, "message");
if (values.json) console.log(JSON.stringify({ chunks, runs, rounds, microseconds, ratios, otlpBytes: received }));
else {
  console.log(
    `${chunks} chunks a run, ${runs} runs a stretch, median of ${rounds} interleaved stretches, Node ${process.version}`,
  );
  console.log("telemetry   CPU µs/chunk   ratio");
  for (const mode of modes) {
    console.log(
      `${mode.padEnd(10)} ${microseconds[mode].toFixed(2).padStart(13)} ${ratios[mode].toFixed(2).padStart(7)}`,
    );
  }
  console.log(`${(received / 1e6).toFixed(1)} MB of OTLP received`);
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

/** CPU microseconds of this process per chunk, the export included. */
async function stretch(host) {
  globalThis.gc?.();
  const before = process.cpuUsage();
  for (let run = 0; run < runs; run++) {
    const started = await host.runs.start({ agent: "teller", input: { text: "go" } });
    let last;
    for await (const batch of host.runs.follow(started.run)) last = batch.at(-1);
    if (last?.type !== "run.finished") throw new Error(JSON.stringify(last));
  }
  await host.telemetry.flush();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (runs * chunks);
}

function median(list) {
  const sorted = [...list].sort((left, right) => left - right);
  return sorted[sorted.length >> 1];
}
