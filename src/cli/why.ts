import type { Command } from "commander";
import { wrap } from "../core/errors/errors.ts";
import { duration } from "../serve/why/tell.ts";
import { explainRun, type Why } from "../serve/why/why.ts";
import { example, recordedOptionsOf } from "./globals.ts";
import { forOneLine, show, showJson } from "./screen.ts";
import { addServiceOptions, askService, type ServiceOptions } from "./service-client.ts";

/** `venturi why RUN`: explains why a run was slow or failed. */
export function configure(command: Command): void {
  addServiceOptions(command.argument("<run>", "the run's id"))
    .option("--json", "print the answer as JSON")
    .addHelpText("after", example("venturi why run_0m5x…", "venturi why run_0m5x… --json"))
    .action(async (run: string, options: ServiceOptions & { json?: true }) => {
      const asked = askService<Why>(command, { ...options, path: `/v1/runs/${encodeURIComponent(run)}/why` });
      const why = await asked.catch((thrown) => fromJournal(command, run, thrown));
      if (options.json) showJson(process.stdout, JSON.stringify(why));
      else show(process.stdout, render(why));
    });
}

/** Without a running service, the journal gives the same answer. */
async function fromJournal(command: Command, run: string, thrown: unknown): Promise<Why> {
  const error = wrap("cli.why", thrown);
  if (error.code !== "unavailable" && error.code !== "not_found") throw error;
  const { withRecordings } = await import("../host/with-recordings.ts");
  return withRecordings(recordedOptionsOf(command), (recordings) =>
    explainRun(
      {
        row: (id) => recordings.row(id),
        events: async function* ({ run: id }) {
          yield await recordings.events(id);
        },
        now: () => Date.now(),
      },
      run,
    ),
  );
}

export function render({ run, agent, cause, meaning, summary, ms, parts }: Why): string {
  const rows = parts.map((part) => ({
    name: part.name === "" ? part.part : `${part.part} ${forOneLine(part.name)}`,
    ms: duration(part.ms),
    share: `${Math.round(part.share * 100)} %`,
  }));
  const width = Math.max(4, ...rows.map(({ name }) => name.length));
  const lines = rows.map(
    ({ name, ms: took, share }) => `  ${name.padEnd(width)}  ${took.padStart(9)}  ${share.padStart(5)}`,
  );
  const head = forOneLine(`${run} (${agent}), ${duration(ms)}: ${cause === "nothing" ? meaning : cause}`);
  return `${head}\n${forOneLine(summary)}\n\n${lines.join("\n")}\n`;
}
