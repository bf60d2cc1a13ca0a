// node bench/budgets.mjs [--runs 2000] [--rate 1000] [--rounds 3] [--only runs,sqlite,postgres]
// Starts at a steady rate, with three budgets and without any, by turns, so that a busy machine slows both down alike:
//   runs      whole runs of a host on SQLite, from start to end
//   sqlite    the journal alone: a reservation, then the append that settles it; without budgets only the append
//   postgres  the same on a real PostgreSQL
// `cpuMs` is what this process worked for one of them, all its threads together; it does not depend on who else uses the machine.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Billing } from "../dist/src/core/journal/money.js";
import { silentLog } from "../dist/src/core/ports/log.js";
import { ProviderRegistry } from "../dist/src/core/ports/registries.js";
import { noTelemetry } from "../dist/src/core/ports/telemetry.js";
import { noTiming } from "../dist/src/core/run/timing.js";
import { provide } from "../dist/src/core/values/token.js";
import { openHost } from "../dist/src/host/open.js";
import { claimed, eventsAfter } from "../dist/src/testing/journal-bench.js";
import { Cluster } from "../dist/test/plugins/postgres/cluster.js";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "2000" },
    rate: { type: "string", default: "1000" },
    rounds: { type: "string", default: "3" },
    only: { type: "string", default: "runs,sqlite,postgres" },
  },
});
const [runs, rate, rounds] = [Number(values.runs), Number(values.rate), Number(values.rounds)];
const budgets = {
  everyone: { of: "service", usd: 1e6, per: "month" },
  users: { of: "user", usd: 1e6, per: "day" },
  tenants: { of: "tenant", tokens: 1e12, per: "minute" },
};

const waiting = [];
let appending = false;

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

const parts = {
  runs: () => compare((configured) => withHost({ budgets: configured }, wholeRuns)),
  sqlite: () => compare((configured) => withHost({}, ({ journal }) => journalAlone(journal, configured))),
  async postgres() {
    const cluster = await Cluster.start("on");
    let schemas = 0;
    const config = () => ({ journal: { type: "postgres", url: cluster.url, schema: `bench${schemas++}` } });
    try {
      return await compare((configured) => withHost(config(), ({ journal }) => journalAlone(journal, configured)));
    } finally {
      await cluster.stop();
    }
  },
};
for (const name of values.only.split(","))
  console.log(JSON.stringify({ what: name, rate, runs, rounds, ...(await parts[name]()) }));

/** By turns, and the median of the rounds. */
async function compare(measure) {
  const [without, withBudgets] = [[], []];
  for (let round = 0; round < rounds; round++) {
    without.push(await measure({}));
    withBudgets.push(await measure(budgets));
  }
  const median = (all) =>
    Object.fromEntries(
      Object.keys(all[0]).map((name) => {
        const sorted = all.map((each) => each[name]).sort((left, right) => left - right);
        return [name, sorted[Math.floor(sorted.length / 2)]];
      }),
    );
  const [one, two] = [median(without), median(withBudgets)];
  const ratio = Object.fromEntries(
    Object.keys(one).map((name) => [name, Math.round((two[name] / one[name]) * 100) / 100]),
  );
  return { without: one, withBudgets: two, ratio };
}

async function withHost(more, measure) {
  const folder = mkdtempSync(join(tmpdir(), "venturi-bench-"));
  const config = {
    dataFolder: folder,
    providers: { demo: { type: "simulator" } },
    prices: { "demo/*": { input: 1, output: 1 } },
    agents: { a: { model: "demo/m" } },
    journal: { type: "sqlite", path: join(folder, "journal.db") },
    channels: {},
    limits: { activeRuns: 100_000 },
    ...more,
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
    return await measure(host);
  } finally {
    await host.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function wholeRuns(host) {
  const one = async (n) => {
    const { run } = await host.runs.start({ agent: "a", input: { text: "hi" }, metadata: { user: `u${n % 50}` } });
    let last;
    for await (const batch of host.runs.follow(run)) last = batch.at(-1);
    if (last?.type !== "run.finished") throw new Error(`it ended with ${JSON.stringify(last)}`);
  };
  await Promise.all(Array.from({ length: 200 }, (_, n) => one(n))); // warm
  return await atRate(one);
}

/** Runs that are there already end: with budgets, after what they may cost was set aside. */
async function journalAlone(journal, configured) {
  const names = Object.keys(configured);
  const usage = { inputTokens: 100, outputTokens: 1 };
  const end = [
    { type: "round.started", round: 1, model: "demo/m", attempt: 1 },
    { type: "generation.finished", round: 1, attempt: 1, finish: "stop", usage, cost: 0.000_101 },
    { type: "run.finished", finish: "stop", output: "", usage, rounds: 1, timing: noTiming },
  ];
  const claims = [];
  const warm = 200;
  while (claims.length < runs + warm)
    claims.push(
      ...(await Promise.all(
        Array.from({ length: 100 }, (_, n) =>
          claimed(journal, { request: { agent: "a", input: {}, user: `u${n % 50}` } }),
        ),
      )),
    );
  const one = async (n) => {
    const { ownership, tenant, request } = claims[n];
    const billing = new Billing({ tenant, request });
    if (names.length > 0) {
      const holds = names.map((name) => ({
        account: JSON.stringify([name, name === "users" ? request.user : ""]),
        nanos: 1_100_000,
        tokens: 1_100,
        maxNanos: 1e15,
        until: Date.now() + 86_400_000,
      }));
      const { kind } = await journal.reserve({ ownership, holds });
      if (kind !== "held") throw new Error(kind);
      billing.held(holds);
    }
    const events = eventsAfter(ownership, end);
    for (const event of events) billing.add(event);
    await appended(journal, { ownership, events, state: "done", billed: billing.take() });
  };
  await Promise.all(Array.from({ length: warm }, (_, n) => one(n)));
  return await atRate((n) => one(warm + n));
}

/** As the service does: one append in flight, and those that arrive meanwhile are in the next. */
function appended(journal, item) {
  const settle = Promise.withResolvers();
  waiting.push({ item, settle });
  if (!appending) void next(journal);
  return settle.promise;
}

async function next(journal) {
  appending = true;
  while (waiting.length > 0) {
    const group = waiting.splice(0, 256);
    const fenced = await journal.append(group.map(({ item }) => item));
    if (fenced.size > 0) throw new Error("fenced");
    for (const { settle } of group) settle.resolve();
  }
  appending = false;
}

async function atRate(one) {
  const cpu = process.cpuUsage();
  const since = performance.now();
  const all = [];
  while (all.length < runs) {
    const due = Math.min(runs, Math.floor(((performance.now() - since) / 1_000) * rate) + 1);
    while (all.length < due) all.push(timed(one, all.length));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const times = (await Promise.all(all)).sort((left, right) => left - right);
  const seconds = (performance.now() - since) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  const at = (share) => Math.round((times[Math.floor(times.length * share)] ?? 0) * 10) / 10;
  const cpuMs = Math.round((user + system) / runs) / 1_000;
  return { perSecond: Math.round(runs / seconds), p50: at(0.5), p99: at(0.99), cpuMs };
}

async function timed(one, n) {
  const since = performance.now();
  await one(n);
  return performance.now() - since;
}
