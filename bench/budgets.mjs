// node bench/budgets.mjs [--runs 3000] [--rate 1000]: runs that start at a steady rate, with and without budgets, on one SQLite journal each.
// What counts is the ratio of the two: how long a run takes from its start to its end, and how many were ended per second.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { silentLog } from "../dist/src/core/ports/log.js";
import { ProviderRegistry } from "../dist/src/core/ports/registries.js";
import { noTelemetry } from "../dist/src/core/ports/telemetry.js";
import { provide } from "../dist/src/core/values/token.js";
import { openHost } from "../dist/src/host/open.js";

const { values } = parseArgs({
  options: { runs: { type: "string", default: "3000" }, rate: { type: "string", default: "1000" } },
});
const [runs, rate] = [Number(values.runs), Number(values.rate)];
const budgets = {
  everyone: { of: "service", usd: 1e6, per: "month" },
  users: { of: "user", usd: 1e6, per: "day" },
  tenants: { of: "tenant", tokens: 1e12, per: "minute" },
};

/** Answers at once: what is measured is what is around it. */
const model = {
  capabilities: { streaming: true, tools: true, vision: false, reasoning: false },
  async *stream() {
    yield [
      { type: "text", text: "ok" },
      { type: "usage", usage: { inputTokens: 100, outputTokens: 1 } },
      { type: "done", finish: "stop" },
    ];
  },
};

const [without, withBudgets] = [await measure({}), await measure(budgets)];
const ratio = (one, two) => Math.round((two / one) * 100) / 100;
console.log(
  JSON.stringify({
    runs,
    rate,
    without,
    withBudgets,
    ratio: {
      perSecond: ratio(without.perSecond, withBudgets.perSecond),
      p50: ratio(without.p50, withBudgets.p50),
      p99: ratio(without.p99, withBudgets.p99),
    },
  }),
);

async function measure(configured) {
  const folder = mkdtempSync(join(tmpdir(), "venturi-bench-"));
  const config = {
    dataFolder: folder,
    providers: { demo: { type: "simulator" } },
    prices: { "demo/*": { input: 1, output: 1 } },
    agents: { a: { model: "demo/m" } },
    journal: { type: "sqlite", path: join(folder, "journal.db") },
    channels: {},
    budgets: configured,
    limits: { activeRuns: 100_000 },
  };
  writeFileSync(join(folder, "venturi.yaml"), JSON.stringify(config));
  const host = await openHost({
    configFile: join(folder, "venturi.yaml"),
    env: {},
    log: silentLog,
    telemetry: noTelemetry,
    replace: [provide(ProviderRegistry, { names: () => ["demo"], get: () => model })],
  });
  try {
    await Promise.all(Array.from({ length: 200 }, (_, n) => one(host, n))); // warm
    const since = performance.now();
    const all = [];
    while (all.length < runs) {
      const due = Math.min(runs, Math.floor(((performance.now() - since) / 1_000) * rate) + 1);
      while (all.length < due) all.push(one(host, all.length));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const times = (await Promise.all(all)).sort((left, right) => left - right);
    const seconds = (performance.now() - since) / 1_000;
    const at = (share) => Math.round((times[Math.floor(times.length * share)] ?? 0) * 10) / 10;
    return { perSecond: Math.round(runs / seconds), p50: at(0.5), p99: at(0.99) };
  } finally {
    await host.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function one(host, n) {
  const since = performance.now();
  const { run } = await host.runs.start({ agent: "a", input: { text: "hi" }, metadata: { user: `u${n % 50}` } });
  let last;
  for await (const batch of host.runs.follow(run)) last = batch.at(-1);
  if (last?.type !== "run.finished") throw new Error(`it ended with ${JSON.stringify(last)}`);
  return performance.now() - since;
}
