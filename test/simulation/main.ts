import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { runBatch, servePartsOfBatch, type Total } from "./batch.ts";
import { absent } from "./coverage.ts";
import { Decisions } from "./decisions.ts";
import { trapEscapes } from "./escapes.ts";
import type { History } from "./history.ts";
import { plant } from "./mutants.ts";

const usage = `npm run simulate -- [options]

  --seeds N        histories to run (default 1000)
  --from N         first seed (default 1)
  --seed N         one history
  --log FILE       the history of a kept log
  --trace          print what happened, step by step
  --twice          run each seed twice and compare every byte
  --processes N    share the histories among N processes (default 1)
  --coverage       print what was reached
  --store sqlite   SQLite itself, on a disk that loses what was not synced (default memory)
  --mutant NAME    with a fault planted into the product; exits 0 when it is found
  --mutants        every planted fault, a process each; prints the table`;

const polling = /(claim|heartbeat|held|readMany|signalsMany)( of|: answer)| hint$/;

const { values } = parseArgs({
  options: {
    ...{ seeds: { type: "string" }, from: { type: "string" }, seed: { type: "string" }, log: { type: "string" } },
    ...{ store: { type: "string", default: "memory" } },
    ...{ trace: { type: "boolean" }, twice: { type: "boolean" }, coverage: { type: "boolean" } },
    ...{ processes: { type: "string" }, "part-of-batch": { type: "boolean" } },
    ...{ mutant: { type: "string" }, mutants: { type: "boolean" }, help: { type: "boolean" } },
  },
});

const store = values.store === "sqlite" ? "sqlite" : "memory";

if (values.help) {
  process.stdout.write(`${usage}\n`);
} else if (values.mutants) {
  const { tableOfMutants } = await import("./mutant-table.ts");
  process.exitCode = await tableOfMutants(Number(values.seeds ?? 2_000));
} else {
  // Before the product is loaded: it may keep what it finds.
  trapEscapes();
  if (values.mutant !== undefined) plant(values.mutant);
  if (values["part-of-batch"]) servePartsOfBatch();
  else if (values.log !== undefined || values.seed !== undefined) {
    const decisions =
      values.log === undefined
        ? Decisions.seeded(Number(values.seed))
        : Decisions.replayed(JSON.parse(readFileSync(values.log, "utf8")) as number[]); // as written below
    const { history } = await import("./history.ts");
    const one = await history(decisions, { trace: values.trace === true, store });
    tell(one, values.trace === true);
    process.exitCode = one.violations.length > 0 ? 1 : 0;
  } else process.exitCode = await many();
}

async function many(): Promise<number> {
  const from = Number(values.from ?? 1);
  const seeds = Number(values.seeds ?? 1_000);
  const twice = values.twice === true;
  const isMutant = values.mutant !== undefined;
  // A fault is planted in this process alone.
  const processes = isMutant ? 1 : Number(values.processes ?? 1);
  const began = Date.now();
  const total = await runBatch({ from, seeds, store, twice, processes, stopAtFirst: isMutant }, (sum, news) => {
    if (sum.histories % 500 === 0) process.stderr.write(`${lineOf(sum)}\n`);
    for (const { seed, violation } of news.failed) process.stdout.write(`\nseed ${seed}: ${violation}\n`);
    for (const seed of news.unequal) process.stdout.write(`seed ${seed} differs when it is repeated\n`);
  });
  if (isMutant && total.failed.length > 0) return 0;
  const [first] = total.failed;
  if (first !== undefined) await explain(first.seed);
  const seconds = Math.round((Date.now() - began) / 1_000);
  process.stdout.write(`${lineOf(total)}\n`);
  process.stdout.write(`seeds ${from} to ${from + seeds - 1}, ${seconds} s, ${Math.max(1, processes)} processes\n`);
  if (twice) process.stdout.write(`run twice: ${total.unequal.length} of ${total.histories} histories differ\n`);
  if (values.coverage) {
    for (const [what, count] of [...total.coverage.counts].sort())
      process.stdout.write(`${String(count).padStart(9)}  ${what}\n`);
  }
  if (values.coverage || seeds >= 1_000) tellUnreached(total);
  return total.failed.length > 0 || total.unequal.length > 0 || isMutant ? 1 : 0;
}

function lineOf({ histories, runs, steps, virtualMs, cpuMs, failed }: Total): string {
  const hours = Math.round(virtualMs / 3_600_000);
  const rate = Math.round(runs / (cpuMs / 1_000));
  return `${histories} histories, ${runs} runs, ${steps} steps, ${hours} h of virtual time, ${rate} runs per CPU second, ${failed.length} failed`;
}

function tellUnreached({ coverage }: Total): void {
  const { situations, pairs, of } = coverage.unreached();
  if (situations.length > 0) process.stdout.write(`never reached: ${situations.join(", ")}\n`);
  process.stdout.write(`${of - pairs.length} of ${of} pairs of fault × event reached\n`);
  if (pairs.length > 0) process.stdout.write(`never reached: ${pairs.join(", ")}\n`);
  for (const [type, why] of Object.entries(absent)) process.stdout.write(`cannot be reached: ${type}: ${why}\n`);
}

/** The first failure as a story one can read, and a log that repeats it when seeds mean something else. */
async function explain(seed: number): Promise<void> {
  const { shrink } = await import("./shrink.ts");
  const { history } = await import("./history.ts");
  const failing = await history(Decisions.seeded(seed), { store });
  process.stderr.write("making it smaller …\n");
  const small = await shrink(failing, 400, store);
  const told = await history(Decisions.replayed(small.decisions), { trace: true, most: 60_000, store });
  tell(told, true);
  const folder = "node_modules/.cache/simulation";
  mkdirSync(folder, { recursive: true });
  const file = `${folder}/seed-${seed}.json`;
  writeFileSync(file, JSON.stringify(small.decisions));
  process.stdout.write(
    `${failing.steps} → ${told.steps} steps; repeat it with npm run simulate -- --log ${file} --trace\n\n`,
  );
}

/** The last steps are enough for a failure on the way; one at the end needs them all. */
function tell({ trace, violations, profile, steps, runs, hash }: History, whole: boolean): void {
  if (whole)
    process.stdout.write(
      `${trace
        .filter((each) => !polling.test(each))
        .slice(-400)
        .join("\n")}\n`,
    );
  process.stdout.write(`profile: ${JSON.stringify(profile)}\n`);
  for (const violation of violations) process.stdout.write(`violated: ${violation}\n`);
  process.stdout.write(`${runs} runs, ${steps} steps, ${hash().slice(0, 16)}\n`);
}
