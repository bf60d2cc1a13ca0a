import { existsSync, writeFileSync } from "node:fs";
import type { Command } from "commander";
import { VenturiError } from "../core/errors/errors.ts";
import { importCases } from "../evals/dataset/import.ts";
import { readDataset } from "../evals/dataset/read.ts";
import { addToDataset } from "../host/recordings/add-to-dataset.ts";
import { withRecordings } from "../host/with-recordings.ts";
import { example, recordedOptionsOf } from "./globals.ts";
import { show } from "./screen.ts";
import { readText } from "./system-error.ts";

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
      const { to, ...item } = options;
      await withRecordings(recordedOptionsOf(sub), async (recordings, { telemetry: { redact } }) => {
        const file = await addToDataset(recordings, { to, redact }, { run, ...item });
        if (file !== undefined) show(process.stderr, `${run} is in ${to}, its copy in ${file}\n`);
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
      const { items, leftOut } = importCases(file, readText(op, file));
      const lines = [{ venturi: "dataset", agent }, ...items].map((line) => `${JSON.stringify(line)}\n`).join("");
      readDataset(to, lines); // Refuses to write what could not be read back.
      writeFileSync(to, lines);
      show(process.stderr, ...leftOut.map((each) => `left out: ${each}\n`), `${items.length} cases are in ${to}\n`);
    });
}
