import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Coverage } from "./coverage.ts";
import { Decisions } from "./decisions.ts";
import type { History } from "./history.ts";

export interface Batch {
  readonly from: number;
  readonly seeds: number;
  readonly store: "memory" | "sqlite";
  /** Each history again, every byte compared. */
  readonly twice: boolean;
  readonly processes: number;
  /** At the first failure, not the tenth. */
  readonly stopAtFirst: boolean;
}

/** What some histories have in sum; plain data, which crosses to another process. */
export interface Sum {
  histories: number;
  runs: number;
  steps: number;
  virtualMs: number;
  cpuMs: number;
  failed: { readonly seed: number; readonly violation: string }[];
  /** Seeds whose repetition differs. */
  unequal: number[];
  counts: [string, number][];
}

export interface Total extends Omit<Sum, "counts"> {
  readonly coverage: Coverage;
}

const none = (): Sum => ({
  ...{ histories: 0, runs: 0, steps: 0, virtualMs: 0, cpuMs: 0 },
  ...{ failed: [], unequal: [], counts: [] },
});

/** Histories that are run between two words of progress, and by a process at a time. */
const atOnce = 250;
const mostFailed = 10;

/** Runs the histories of a batch, in this process or in several, and tells each time what there is in sum. */
export async function runBatch(batch: Batch, told: (total: Total, news: Sum) => void): Promise<Total> {
  const { coverage, ...sum } = { ...none(), coverage: new Coverage() };
  const total: Total = { ...sum, coverage };
  const isOver = () => total.failed.length >= (batch.stopAtFirst ? 1 : mostFailed);
  const parts = partsOf(batch);
  const add = (news: Sum) => {
    total.histories += news.histories;
    total.runs += news.runs;
    total.steps += news.steps;
    total.virtualMs += news.virtualMs;
    total.cpuMs += news.cpuMs;
    total.failed.push(...news.failed);
    total.unequal.push(...news.unequal);
    coverage.add(news.counts);
    told(total, news);
  };
  const work = async (run: (part: Batch) => Promise<Sum>) => {
    for (const part of parts) {
      add(await run(part));
      if (isOver()) return;
    }
  };
  if (batch.processes <= 1) await work(runPart);
  else await Promise.all(Array.from({ length: batch.processes }, () => inChild(work)));
  return total;
}

function* partsOf(batch: Batch): Generator<Batch> {
  const end = batch.from + batch.seeds;
  for (let from = batch.from; from < end; from += atOnce) yield { ...batch, from, seeds: Math.min(atOnce, end - from) };
}

/** A part's histories one after the other, here. */
export async function runPart({ from, seeds, store, twice, stopAtFirst }: Batch): Promise<Sum> {
  const { history } = await import("./history.ts");
  const sum = none();
  const coverage = new Coverage();
  const hashes = new Map<number, string>();
  const cpu = process.cpuUsage();
  for (let seed = from; seed < from + seeds; seed++) {
    const one: History = await history(Decisions.seeded(seed), { trace: twice, store });
    sum.histories += 1;
    sum.runs += one.runs;
    sum.steps += one.steps;
    sum.virtualMs += one.virtualMs;
    coverage.add(one.coverage.counts);
    const [violation] = one.violations;
    if (violation !== undefined) sum.failed.push({ seed, violation });
    // At once: processes of a history that is over may still stop.
    if (twice) hashes.set(seed, one.hash());
    if (sum.failed.length >= (stopAtFirst ? 1 : mostFailed)) break;
  }
  // After all others: what the product keeps past a history would show.
  for (const [seed, hash] of hashes)
    if ((await history(Decisions.seeded(seed), { trace: true, store })).hash() !== hash) sum.unequal.push(seed);
  const { user, system } = process.cpuUsage(cpu);
  sum.cpuMs = (user + system) / 1_000;
  sum.counts = [...coverage.counts];
  return sum;
}

/** Gives the work a process that runs the parts it is handed. */
async function inChild(work: (run: (part: Batch) => Promise<Sum>) => Promise<void>): Promise<void> {
  const main = fileURLToPath(new URL("./main.js", import.meta.url));
  const child = fork(main, ["--part-of-batch"], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const died = new Promise<never>((_, reject) =>
    child.once("exit", (code, signal) => reject(new Error(`a process of the batch has ended: ${signal ?? code}`))),
  );
  died.catch(() => {});
  const run = (part: Batch) => {
    const answer = new Promise<Sum>((resolve) => child.once("message", (sum) => resolve(sum as Sum)));
    child.send(part);
    return Promise.race([answer, died]);
  };
  try {
    await work(run);
  } finally {
    child.disconnect();
  }
}

/** The other side of it. */
export function servePartsOfBatch(): void {
  process.on("message", (part) => {
    runPart(part as Batch).then(
      (sum) => process.send?.(sum),
      (thrown: unknown) => {
        process.stderr.write(`${thrown instanceof Error ? thrown.stack : thrown}\n`);
        process.exit(1);
      },
    );
  });
}
