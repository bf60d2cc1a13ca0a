// A month of schedules on three replicas over PostgreSQL, with kills and clocks that are set, and webhooks to a receiver that
// fails, is slow and goes away: npm run test:time -- [--seconds 120] [--seed 1] [--backlog 600]
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Cron } from "croner";
import { Cluster } from "../plugins/postgres/cluster.ts";
import { FaultyReceiver, secret } from "./receiver.ts";
import { Replica } from "./replicas.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "120" },
    seed: { type: "string", default: "1" },
    backlog: { type: "string", default: "600" },
  },
});
const seconds = Number(values.seconds);
let seed = Number(values.seed);
const random = () => {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed / 2_147_483_647;
};
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const day = 86_400_000;
/** With the ends of summer time in Berlin and New York. */
const start = Date.UTC(2026, 9, 10);
const end = Date.UTC(2026, 10, 10);
const schedules = {
  often: { cron: "0 */3 * * *", timezone: "Europe/Berlin" },
  nightly: { cron: "30 2 * * *", timezone: "Europe/Berlin" },
  weekdays: { cron: "15 9 * * 1-5", timezone: "America/New_York", jitter: "10m" },
  twice: { cron: "30 1 * * *", timezone: "America/New_York" },
};

const cluster = await Cluster.start();
const folder = mkdtempSync(join(tmpdir(), "venturi-month-"));
const receiver = new FaultyReceiver(random);
await receiver.open();
const configFile = join(folder, "venturi.yaml");
const rest = { agent: "assistant", input: "Hello.", catchUp: "20d" };
const config = {
  version: 1,
  telemetry: "off",
  server: { listen: 0 },
  providers: { demo: { type: "simulator", pace: 0 } },
  tools: { clock: { type: "clock", approval: "always" } },
  agents: { assistant: { model: "demo/small" }, asking: { model: "demo/small", tools: ["clock"] } },
  journal: { type: "postgres", url: cluster.url, lease: "3s" },
  schedules: Object.fromEntries(Object.entries(schedules).map(([name, each]) => [name, { ...each, ...rest }])),
  webhooks: {
    crm: {
      url: `http://127.0.0.1:${receiver.port}/in`,
      secret,
      events: ["run.finished", "run.failed", "question.asked", "question.answered"],
      retry: { first: "200ms", longest: "2s" },
    },
  },
};
writeFileSync(configFile, JSON.stringify(config));

const began = Date.now();
const speed = (end - start) / (seconds * 1_000);
const pace = { start, began, speed, end: end + 3_600_000 };
const replicas = Array.from({ length: 3 }, () => new Replica(configFile, pace));
const violations: string[] = [];
let clocks = 0;
/** When all replicas know the schedules, which begin then. */
let seenAt = start;
let asked = 0;

const ask = async <T>(path: string, body?: object, headers: Record<string, string> = {}): Promise<T> => {
  for (;;) {
    const { url } = replicas.find((each) => each.url !== "") ?? { url: "" };
    const init =
      body === undefined
        ? {}
        : { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json", ...headers } };
    try {
      const response = await fetch(url + path, init);
      if (response.status < 500) return (await response.json()) as T;
    } catch {
      // killed meanwhile
    }
    await sleep(200);
  }
};

try {
  await Promise.all(replicas.map((each) => each.start()));
  seenAt = Math.min(end, start + (Date.now() + 2_000 - began) * speed);
  await month();
  await memory();
  report();
} finally {
  for (const each of replicas) await each.kill();
  await receiver.close();
  await cluster.crash();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(violations.length === 0 ? 0 : 1);

async function month(): Promise<void> {
  const over = began + seconds * 1_000;
  const questions = answerQuestions(over);
  const outage = (async () => {
    await sleep(seconds * 400);
    await receiver.close();
    await sleep(seconds * 200);
    await receiver.open();
  })();
  const faults = (async () => {
    const restarts: Promise<void>[] = [];
    while (Date.now() < over - 5_000) {
      // Slow enough for a leader of the webhooks now and then: another takes over after 10 s.
      await sleep(1_500 + random() * 4_500);
      const one = replicas[Math.floor(random() * 3)];
      const kind = random();
      if (kind < 0.35) restarts.push(restart(one ? [one] : []));
      else if (kind < 0.42) restarts.push(restart(replicas));
      else {
        clocks += 1;
        // Up to two days either way; sometimes right again.
        one?.set(kind < 0.65 ? 0 : Math.floor((random() - 0.5) * 4 * day));
      }
    }
    await Promise.all(restarts);
  })();
  await Promise.all([faults, outage, questions]);
  for (const each of replicas) each.set(0);
  await sleep(Math.max(0, over - Date.now()));
  await settled();
}

async function restart(wanted: readonly Replica[]): Promise<void> {
  const some = wanted.filter(({ url }) => url !== ""); // others are starting
  await Promise.all(some.map((each) => each.kill()));
  await sleep(300 + random() * 1_500);
  await Promise.all(some.map((each) => each.start()));
}

/** Runs that ask a person, and a person who answers. */
async function answerQuestions(over: number): Promise<void> {
  while (Date.now() < over - 4_000) {
    if (asked < 40) {
      const key = `asking-${asked++}`;
      await ask(
        "/v1/runs",
        { agent: "asking", input: "What time is it?" },
        { "idempotency-key": key, prefer: "respond-async" },
      );
    }
    await approve();
    await sleep(700);
  }
}

async function approve(): Promise<void> {
  const { approvals = [] } = await ask<{ approvals?: { run: string; call: string }[] }>("/v1/approvals?limit=50");
  for (const { run, call } of approvals) await ask(`/v1/runs/${run}/approvals/${call}`, { approved: true });
}

interface Row {
  readonly run: string;
  readonly status: string;
  readonly metadata?: { readonly schedule?: string; readonly scheduledFor?: string };
}

async function rows(): Promise<Row[]> {
  const all: Row[] = [];
  let cursor: string | undefined;
  do {
    const page = await ask<{ runs: Row[]; cursor?: string }>(
      `/v1/runs?limit=200${cursor === undefined ? "" : `&cursor=${cursor}`}`,
    );
    all.push(...page.runs);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return all;
}

/** Until every time of the month has its run, all have ended and their ends were told; or nothing more happens. */
async function settled(): Promise<void> {
  const last = Date.now() + 120_000;
  for (;;) {
    await approve();
    const all = await rows();
    const told = receiver.once;
    const open = all.filter(({ run, status }) => !["finished", "failed"].includes(status) || !told.has(run));
    const missing = expected().filter((key) => !all.some((row) => keyOf(row) === key));
    if ((open.length === 0 && missing.length === 0) || Date.now() > last) return judge(all);
    await sleep(1_000);
  }
}

function keyOf({ metadata }: Row): string {
  return `${metadata?.schedule} ${metadata?.scheduledFor}`;
}

function expected(): string[] {
  return Object.entries(schedules).flatMap(([name, { cron, timezone }]) => {
    const pattern = new Cron(cron, { timezone, paused: true });
    const found: string[] = [];
    let at = pattern.nextRun(new Date(seenAt));
    for (; at !== null && at.getTime() <= end; at = pattern.nextRun(at)) found.push(`${name} ${at.toISOString()}`);
    return found;
  });
}

function judge(all: readonly Row[]): void {
  const scheduled = all.filter(({ metadata }) => metadata?.schedule !== undefined);
  const counts = Map.groupBy(scheduled, keyOf);
  for (const key of expected()) if (!counts.has(key)) violations.push(`${key} was not started`);
  for (const [key, runs] of counts) if (runs.length > 1) violations.push(`${key} was started ${runs.length} times`);
  const told = receiver.once;
  for (const { run, status } of all) {
    if (!["finished", "failed"].includes(status)) violations.push(`${run} is ${status}`);
    if (!told.has(run)) violations.push(`${run} was not told of`);
  }
  for (const [run, seqs] of told) {
    if (seqs.some((seq, index) => seq < (seqs[index - 1] ?? 0)))
      violations.push(`${run} was told of out of order: ${seqs}`);
  }
  violations.push(...receiver.violations);
  if (receiver.refused < 50) violations.push(`the receiver refused ${receiver.refused} only; this shows nothing`);
  const ids = new Set(receiver.taken.map(({ id }) => id));
  const threes = [...told.values()].filter((seqs) => seqs.length >= 3).length;
  const kills = replicas.reduce((sum, each) => sum + each.kills, 0);
  const month = { expected: expected().length, started: scheduled.length, keys: counts.size, kills, clocksSet: clocks };
  const hooks = {
    runs: told.size,
    messages: ids.size,
    taken: receiver.taken.length,
    refused: receiver.refused,
    withQuestions: threes,
  };
  process.stdout.write(`${JSON.stringify({ month, webhooks: hooks })}\n`);
}

/** What waits for a receiver that is down is in the journal: twice as much of it takes no more memory. */
async function memory(): Promise<void> {
  const [first, ...others] = replicas;
  if (first === undefined) return;
  for (const each of others) await each.kill();
  await receiver.close();
  receiver.faults = false;
  const backlog = Number(values.backlog);
  const before = receiver.once.size;
  const heaps: number[] = [];
  for (let part = 0; part < 3; part++) {
    for (let at = 0; at < backlog / 3; at += 10) {
      await Promise.all(Array.from({ length: 10 }, () => ask("/v1/runs", { agent: "assistant", input: "Hello." })));
    }
    await sleep(2_000);
    heaps.push((await first.heap()) / 1_048_576);
  }
  await receiver.open();
  const last = Date.now() + 120_000;
  while (receiver.once.size < before + backlog && Date.now() < last) await sleep(200);
  const delivered = receiver.once.size - before;
  const [small = 0, , large = 0] = heaps;
  if (large > small + 12) violations.push(`the heap grew from ${small.toFixed(1)} to ${large.toFixed(1)} MiB`);
  if (delivered < backlog) violations.push(`${backlog - delivered} of the backlog were lost`);
  process.stdout.write(
    `${JSON.stringify({ backlog, delivered, heapMiB: heaps.map((heap) => Number(heap.toFixed(1))) })}\n`,
  );
}

function report(): void {
  process.stdout.write(`${violations.length} violations\n`);
  for (const each of violations.slice(0, 20)) process.stdout.write(`  ${each}\n`);
}
