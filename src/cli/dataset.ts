import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join, relative } from "node:path";
import type { Command } from "commander";
import { VenturiError } from "../core/errors/errors.ts";
import { recordingsOf } from "../evals/dataset/cases.ts";
import { importCases } from "../evals/dataset/import.ts";
import { readDataset } from "../evals/dataset/read.ts";
import { redactedExport } from "../host/recordings/redacted-export.ts";
import { withRecordings } from "../host/with-recordings.ts";
import { sourceOf } from "./eval-bench.ts";
import { example, loadOptionsOf } from "./globals.ts";
import { show } from "./screen.ts";

interface Options {
  readonly to: string;
  readonly note?: string;
  readonly id?: string;
  readonly link?: true;
}

const op = "cli.dataset";

/** `venturi dataset add RUN`: adds a run to a set, as a file to be checked in. */
export function configure(command: Command): void {
  const shown = example('venturi dataset add run_0m5x… --to orders.jsonl --note "the refund was refused"');
  command.addHelpText("after", shown);
  command
    .command("add")
    .description("add a run to a set, with a copy of it that needs no journal")
    .argument("<run>", "the run's id")
    .option("--to <file>", "the set: JSON lines", "dataset.jsonl")
    .option("--note <text>", "why it is in the set")
    .option("--id <name>", "name of the item (default: the run's id)")
    .option("--link", "store only a reference; the run must stay in the journal")
    .addHelpText("after", shown)
    .action(async (run: string, options: Options, sub: Command) => {
      const { to, note, id, link } = options;
      if (![".jsonl", ".ndjson"].includes(extname(to)))
        throw new VenturiError(op, "invalid_input", `--to: ${to} is no file of JSON lines (.jsonl)`);
      await withRecordings(loadOptionsOf(sub), async (recordings, config) => {
        const row = await recordings.row(run);
        if (row.state !== "done") throw new VenturiError(op, "conflict", `the run ${run} has not ended`);
        const more = { ...(id === undefined ? {} : { id }), ...(note === undefined ? {} : { note }) };
        const add = (item: object) => appendFileSync(to, `${JSON.stringify({ ...item, ...more })}\n`);
        mkdirSync(dirname(to), { recursive: true });
        if (link) return add({ run });
        const folder = join(dirname(to), `${basename(to, extname(to))}.runs`);
        mkdirSync(folder, { recursive: true });
        const file = join(folder, `${run}.jsonl`);
        if (existsSync(file)) throw new VenturiError(op, "conflict", `${file} is there already`);
        const texts = await recordingsOf(row, sourceOf(recordings));
        const clean = texts.map((text) => redactedExport(text, config.telemetry.redact));
        const heading = { venturi: "dataset-run", config: row.digest?.config ?? "unknown", runs: texts.length };
        writeFileSync(file, `${JSON.stringify(heading)}\n${clean.join("")}`);
        add({ file: relative(dirname(to), file) });
        show(process.stderr, `${run} is in ${to}, its copy in ${file}\n`);
      });
    });
  command
    .command("import")
    .description("convert promptfoo tests or Inspect samples (JSON lines) to a set")
    .argument("<file>", "promptfooconfig.yaml, or samples.jsonl")
    .requiredOption("--to <file>", "the new set: JSON lines")
    .requiredOption("--agent <name>", "the agent to be asked")
    .addHelpText("after", example("venturi dataset import promptfooconfig.yaml --to cases.jsonl --agent assistant"))
    .action((file: string, { to, agent }: { to: string; agent: string }) => {
      if (existsSync(to)) throw new VenturiError(op, "conflict", `${to} is there already`);
      const { items, leftOut } = importCases(file, readFileSync(file, "utf8"));
      const lines = [{ venturi: "dataset", agent }, ...items].map((line) => `${JSON.stringify(line)}\n`).join("");
      readDataset(to, lines); // Refuses to write what could not be read back.
      writeFileSync(to, lines);
      show(process.stderr, ...leftOut.map((each) => `left out: ${each}\n`), `${items.length} cases are in ${to}\n`);
    });
}
