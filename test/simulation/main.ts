import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { Coverage, wanted } from "./coverage.ts";
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
  const { history } = await import("./history.ts");
  if (values.log !== undefined || values.seed !== undefined) {
    const decisions =
      values.log === undefined
        ? Decisions.seeded(Number(values.seed))
        : Decisions.replayed(JSON.parse(readFileSync(values.log, "utf8")) as number[]); // as written below
    const one = await history(decisions, { trace: values.trace === true, store });
    tell(one, values.trace === true);
    process.exitCode = one.violations.length > 0 ? 1 : 0;
  } else process.exitCode = await many(history);
}

async function many(history: typeof import("./history.ts").history): Promise<number> {
  const from = Number(values.from ?? 1);
  const seeds = Number(values.seeds ?? 1_000);
  const cpu = process.cpuUsage();
  const total = { runs: 0, steps: 0, virtualMs: 0, failed: 0, unequal: 0 };
  const coverage = new Coverage();
  const line = (done: number) => {
    const { user, system } = process.cpuUsage(cpu);
    const seconds = (user + system) / 1e6;
    const hours = Math.round(total.virtualMs / 3_600_000);
    return `${done} histories, ${total.runs} runs, ${total.steps} steps, ${hours} h of virtual time, ${Math.round(total.runs / seconds)} runs per CPU second, ${total.failed} failed`;
  };
  for (let done = 0; done < seeds; done++) {
    const seed = from + done;
    const one = await history(Decisions.seeded(seed), { trace: values.twice === true, store });
    total.runs += one.runs;
    total.steps += one.steps;
    total.virtualMs += one.virtualMs;
    coverage.add(one.coverage);
    if (values.twice && (await history(Decisions.seeded(seed), { trace: true, store })).hash() !== one.hash()) {
      total.unequal += 1;
      process.stdout.write(`seed ${seed} differs when it is repeated\n`);
    }
    if (done % 500 === 499) process.stderr.write(`${line(done + 1)}\n`);
    if (one.violations.length === 0) continue;
    total.failed += 1;
    process.stdout.write(`\nseed ${seed}: ${one.violations[0]}\n`);
    if (values.mutant !== undefined) return 0;
    if (total.failed === 1) await explain(seed, one);
    if (total.failed >= 10) break;
  }
  process.stdout.write(`${line(seeds)}\n`);
  if (values.coverage) {
    for (const [what, count] of [...coverage.counts].sort())
      process.stdout.write(`${String(count).padStart(9)}  ${what}\n`);
  }
  const never = wanted.filter((what) => !coverage.counts.has(what));
  if (seeds >= 1_000 && never.length > 0) process.stdout.write(`never reached: ${never.join(", ")}\n`);
  return total.failed > 0 || total.unequal > 0 || values.mutant !== undefined ? 1 : 0;
}

/** The first failure as a story one can read, and a log that repeats it when seeds mean something else. */
async function explain(seed: number, failing: History): Promise<void> {
  const { shrink } = await import("./shrink.ts");
  const { history } = await import("./history.ts");
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
