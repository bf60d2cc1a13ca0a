import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Command } from "commander";
import { messageOf, VenturiError } from "../core/errors/errors.ts";
import { didYouMean } from "../core/values/suggest.ts";
import { casesOf } from "../evals/dataset/cases.ts";
import { readDataset, refuse } from "../evals/dataset/read.ts";
import { name, type Scorer } from "../evals/dataset/schema.ts";
import { evaluate } from "../evals/evaluate.ts";
import { htmlReport } from "../evals/report/html.ts";
import { junitXml } from "../evals/report/junit.ts";
import { tableText } from "../evals/report/table.ts";
import type { Measured, RunSet } from "../evals/scoring/run-set.ts";
import { summarize } from "../evals/stats/compare.ts";
import { loadConfig } from "../host/config/load.ts";
import { sourceOf } from "../host/recordings/run-source.ts";
import { withRecordings } from "../host/with-recordings.ts";
import { evalFolder, openBench, readRunSet, writeRunSet } from "./eval-bench.ts";
import { example, recordedOptionsOf } from "./globals.ts";
import { drawn, show, showJson } from "./screen.ts";
import { readText } from "./system-error.ts";

interface Options {
  readonly agent?: string;
  readonly model?: string;
  readonly against: string;
  readonly as: string;
  readonly repeat: string;
  readonly concurrency: string;
  readonly budget?: string;
  readonly junit?: string;
  readonly html?: string;
  readonly json?: true;
}

const op = "cli.eval";

/** `venturi eval set.yaml`: runs a set of recorded runs and inputs, without their side effects, and scores them. */
export function configure(command: Command): void {
  command
    .argument("<set>", "the dataset: YAML, or JSON lines (.jsonl)")
    .option("--agent <name>", "use another agent than the recorded one")
    .option("--model <name>", "use another model: an entry of models, or provider/model")
    .option("--against <name>", "compare with a result saved by --as, or with the recorded runs", "recorded")
    .option("--as <name>", "save the result under this name", "latest")
    .option("--repeat <n>", "runs of each item", "1")
    .option("--concurrency <n>", "runs at the same time", "4")
    .option("--budget <usd>", "start no more items once this much is spent")
    .option("--junit <file>", "write JUnit XML")
    .option("--html <file>", "write a self-contained HTML report")
    .option("--json", "print the result as JSON")
    .addHelpText(
      "after",
      example("venturi eval set.yaml --model small --html report.html", "venturi eval set.yaml --as main"),
    )
    .action(async (file: string, options: Options) => {
      const load = recordedOptionsOf(command);
      const repeat = count("--repeat", options.repeat, 100);
      const concurrency = count("--concurrency", options.concurrency, 100);
      const budget = options.budget === undefined ? undefined : dollarsOf(options.budget);
      const set = readDataset(file, readText(op, file));
      mustBeWritable(options);
      const cases = await withRecordings(load, async (recordings) => await casesOf(set, sourceOf(recordings)));
      const config = await loadConfig(load);
      refuse(set.scorers.flatMap((scorer) => unknownJudge(file, scorer, Object.keys(config.agents))));
      const folder = evalFolder(config);
      const kept = options.against === "recorded" ? undefined : readRunSet(folder, set.name, options.against);
      const { agent, model } = options;
      const told = cases.map(({ place: _, ...each }) => each);
      const variant = hashOf([told, set.scorers, config.hash, agent, model, repeat, set.unanswered, kept?.at]);
      const bench = await openBench({ load, name: set.name, variant, cases, agent, model });
      if (bench.resumed) show(process.stderr, "going on from where it was interrupted\n");
      const stop = new AbortController();
      const onInterrupt = () => (stop.signal.aborted ? process.exit(130) : stop.abort());
      process.on("SIGINT", onInterrupt);
      try {
        const { host, key } = bench;
        const { journal, runs } = host;
        const { scorers, unanswered } = set;
        const against = kept && new Map(kept.items.map((item) => [item.id, item]));
        const budgeted = { repeat, concurrency, budget, signal: stop.signal, progress: progressOf(options) };
        const done = await evaluate({
          ...{ journal, runs, cases, scorers, unanswered, key, agent, model, against, folder: set.folder },
          ...budgeted,
        });
        const found: RunSet = {
          venturi: "runset",
          set: set.name,
          name: options.as,
          at: Date.now(),
          config: config.hash,
          ...(agent === undefined ? {} : { agent }),
          ...(model === undefined ? {} : { model }),
          scorers: scorers.map(({ name, type }) => name ?? type),
          skipped: [...done.skipped],
          items: [...done.items],
        };
        const baseline = kept?.items ?? (done.recorded.length === 0 ? undefined : done.recorded);
        const summary = summarize(found, baseline, { thresholds: set.thresholds, recorded: done.recorded });
        const comparedWith = baseline === undefined ? undefined : options.against;
        bench.finish();
        const written = writeRunSet(folder, found);
        if (options.junit !== undefined) writeFileSync(options.junit, junitXml(found, summary));
        const other = baseline && { name: options.against, items: baseline };
        if (options.html !== undefined) writeFileSync(options.html, htmlReport({ found, summary, against: other }));
        if (options.json) showJson(process.stdout, JSON.stringify({ summary, found }));
        else show(process.stdout, tableText(found, summary, comparedWith), `kept as ${written}\n`);
        if (summary.failures.length > 0) process.exitCode = 1;
      } finally {
        process.off("SIGINT", onInterrupt);
        await bench.host.close();
      }
    });
}

function unknownJudge(file: string, scorer: Scorer, agents: readonly string[]): string[] {
  if (scorer.type !== "judge" || agents.includes(scorer.agent)) return [];
  const { name: called = scorer.type, agent } = scorer;
  return [`${file}:1:1: scorers: ${called}: "${agent}" is not among the agents${didYouMean(agent, agents)}`];
}

/** On a terminal one line that is overwritten, elsewhere a line per tenth of the set. */
function progressOf({ json }: Options): (done: number, all: number, last: Measured) => void {
  return (done, all, { id, ok }) => {
    if (json) return;
    if (process.stderr.isTTY) show(process.stderr, drawn(`\r${done}/${all}${done === all ? "\n" : ""}`));
    else if (done === all || done % Math.max(1, Math.ceil(all / 10)) === 0)
      show(process.stderr, `${done}/${all} ${id}${ok ? "" : " failed"}\n`);
  };
}

/** Checked first: what the eval costs is spent when its results are written. */
function mustBeWritable({ as, junit, html }: Options): void {
  const named = name.safeParse(as);
  if (!named.success) throw new VenturiError(op, "invalid_input", `--as: ${named.error.issues[0]?.message}`);
  for (const [flag, file] of Object.entries({ "--junit": junit, "--html": html })) {
    if (file === undefined) continue;
    try {
      if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) throw new Error("it is a folder");
      accessSync(existsSync(file) ? file : dirname(file), constants.W_OK);
    } catch (cause) {
      throw new VenturiError(op, "invalid_input", `${flag}: ${file} cannot be written: ${messageOf(cause)}`, { cause });
    }
  }
}

const hashOf = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("hex");

function count(flag: string, text: string, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new VenturiError(op, "invalid_input", `${flag}: expected a number from 1 to ${most}`);
}

function dollarsOf(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new VenturiError(op, "invalid_input", "--budget: expected an amount in USD, such as 2.00");
}
