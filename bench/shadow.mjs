// node bench/shadow.mjs [--rate 20] [--seconds 8] [--slices 4] [--share 0.05]: CPU of runs at a steady rate, in turns without a
// shadow, with one that chooses no run, and with one that chooses a share of them. Streams of 200 pieces, on SQLite. Each
// slice ends when its last run and its last shadow have ended, so the CPU of shadows is all in it.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { silentLog } from "../dist/src/core/ports/log.js";
import { ProviderRegistry } from "../dist/src/core/ports/registries.js";
import { noTelemetry } from "../dist/src/core/ports/telemetry.js";
import { shadowTenant } from "../dist/src/core/run/shadow.js";
import { provide } from "../dist/src/core/values/token.js";
import { openHost } from "../dist/src/host/open.js";

const { values } = parseArgs({
  options: {
    rate: { type: "string", default: "20" },
    seconds: { type: "string", default: "8" },
    slices: { type: "string", default: "4" },
    share: { type: "string", default: "0.05" },
  },
});
const [rate, seconds, slices, share] = [values.rate, values.seconds, values.slices, values.share].map(Number);

const model = {
  capabilities: { streaming: true, tools: true, vision: false, reasoning: false },
  async *stream() {
    for (let n = 0; n < 20; n++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      yield Array.from({ length: 10 }, (_, piece) => ({ type: "text", text: `word${n * 10 + piece} ` }));
    }
    yield [
      { type: "usage", usage: { inputTokens: 100, outputTokens: 200 } },
      { type: "done", finish: "stop" },
    ];
  },
};

const variants = { off: undefined, none: 1e-9, on: share };
const hosts = {};
for (const [name, chosen] of Object.entries(variants)) hosts[name] = await opened(chosen);
const found = Object.fromEntries(Object.keys(variants).map((name) => [name, []]));
for (const name of Object.keys(variants)) await slice(hosts[name].host, 1); // warm
for (let n = 0; n < slices; n++)
  for (const name of Object.keys(variants)) found[name].push(await slice(hosts[name].host, seconds));
const shadows = (await hosts.on.host.journal.list({ tenant: shadowTenant, limit: 1_000 })).runs.length;
for (const { host, folder } of Object.values(hosts)) {
  await host.close();
  rmSync(folder, { recursive: true, force: true });
}
const runs = Math.floor(rate * seconds);
const cpu = Object.fromEntries(Object.entries(found).map(([name, each]) => [name, median(each.map(({ ms }) => ms))]));
const wall = median(found.on.map((each) => each.wall));
const rounded = (value, digits = 2) => Number(value.toFixed(digits));
console.log(
  JSON.stringify({
    ...{ rate, seconds, slices, share, runsPerSlice: runs, shadows },
    cpuMsPerRun: Object.fromEntries(Object.entries(cpu).map(([name, ms]) => [name, rounded(ms / runs, 3)])),
    // Of one core, while it ran.
    percentOfACore: rounded(((cpu.on - cpu.off) / wall) * 100),
    // Of what the live runs take.
    percentMore: { none: rounded((cpu.none / cpu.off - 1) * 100), on: rounded((cpu.on / cpu.off - 1) * 100) },
    spread: Object.fromEntries(
      Object.entries(found).map(([name, each]) => [name, each.map(({ ms }) => Math.round(ms))]),
    ),
  }),
);

async function opened(chosen) {
  const folder = mkdtempSync(join(tmpdir(), "venturi-bench-"));
  const shadow =
    chosen === undefined ? {} : { shadow: { model: "demo/other", share: chosen, budget: { tokens: 1e12 } } };
  const config = {
    dataFolder: folder,
    providers: { demo: { type: "simulator" } },
    models: { main: { chain: ["demo/m"], ...shadow } },
    agents: { a: { model: "main" } },
    journal: { type: "sqlite", path: join(folder, "journal.db") },
    channels: {},
  };
  writeFileSync(join(folder, "venturi.yaml"), JSON.stringify(config));
  const replace = [provide(ProviderRegistry, { names: () => ["demo"], get: () => model })];
  const options = { configFile: join(folder, "venturi.yaml"), env: {}, log: silentLog, telemetry: noTelemetry };
  return { folder, host: await openHost({ ...options, replace }) };
}

async function slice(host, length) {
  const before = process.cpuUsage();
  const since = performance.now();
  const all = [];
  const wanted = Math.floor(rate * length);
  while (all.length < wanted) {
    const due = Math.min(wanted, Math.floor(((performance.now() - since) / 1_000) * rate) + 1);
    while (all.length < due) all.push(one(host));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await Promise.all(all);
  for (let waited = 0; waited < 600; waited++) {
    if (((await host.journal.keyValues.list("shadows")) ?? []).length === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { user, system } = process.cpuUsage(before);
  return { ms: (user + system) / 1_000, wall: performance.now() - since };
}

async function one(host) {
  const { run } = await host.runs.start({ agent: "a", input: { text: "hi" } });
  let last;
  for await (const batch of host.runs.follow(run)) last = batch.at(-1);
  if (last?.type !== "run.finished") throw new Error(`it ended with ${JSON.stringify(last)}`);
}

function median(all) {
  const sorted = all.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
