import type { Command } from "commander";
import { shadowReports } from "../evals/report/shadow-report.ts";
import { tableText } from "../evals/report/table.ts";
import { withRecordings } from "../host/with-recordings.ts";
import { example, recordedOptionsOf } from "./globals.ts";
import { sinceOf } from "./runs.ts";
import { show, showJson } from "./screen.ts";

interface Options {
  readonly model?: string;
  readonly since?: string;
  readonly json?: true;
}

/** `venturi evals`: live runs beside their shadows, with or without a running service. */
export function configure(command: Command): void {
  command
    .option("--model <name>", "only shadows for this entry of models")
    .option("--since <time>", 'only runs started since then: "15m", "2h", "7d", or a date')
    .option("--json", "as JSON")
    .addHelpText("after", example("venturi evals --since 7d"))
    .action(async (options: Options) => {
      const { model, since } = options;
      const reports = await withRecordings(
        recordedOptionsOf(command),
        async ({ journal }) => await shadowReports(journal, { model, since: sinceOf(since) }),
      );
      if (options.json) return showJson(process.stdout, JSON.stringify(reports));
      if (reports.length === 0) show(process.stderr, "no run has a shadow yet\n");
      for (const { found, summary, model: entry, by } of reports)
        show(process.stdout, `${found.items.length} runs of ${entry} on ${by}\n`, tableText(found, summary, "live"));
    });
}
