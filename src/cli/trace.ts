import type { Command } from "commander";
import { wrap } from "../core/errors/errors.ts";
import { example, recordedOptionsOf } from "./globals.ts";
import { drawn, forOneLine, show, showJson, wantsColor } from "./screen.ts";
import { addServiceOptions, askService, type ServiceOptions } from "./service-client.ts";
import { spanTree } from "./span-tree.ts";
import { waterfall } from "./waterfall.ts";

interface TraceOptions extends ServiceOptions {
  readonly json?: boolean;
  readonly all?: boolean;
}

export function configure(command: Command): void {
  addServiceOptions(command.argument("<run>", "the run's id"))
    .option("--json", "print the spans as OTLP JSON")
    .option("--all", "one line per chunk and append")
    .addHelpText("after", example("venturi trace run_0m5x…", "venturi trace run_0m5x… --json > trace.json"))
    .action(async (run: string, options: TraceOptions) => {
      const path = `/v1/runs/${encodeURIComponent(run)}/trace`;
      const document = await askService<unknown>(command, { ...options, path }).catch((thrown) =>
        fromJournal(command, run, thrown),
      );
      if (options.json) showJson(process.stdout, JSON.stringify(document));
      else printTrace(document, process.stdout, { everything: options.all ?? false });
    });
}

/** Draws the trace, as wide as the terminal. */
export function printTrace(document: unknown, to: NodeJS.WriteStream, options: { everything: boolean }): void {
  const tree = spanTree(document);
  show(to, `trace ${tree.traceIds.map(forOneLine).join(", ")}\n`);
  show(to, drawn(waterfall(tree, { ...options, width: to.columns || 120, color: wantsColor(to) })));
}

/** Spans live in the service's memory; the journal's events remain and give the same picture at millisecond resolution. */
async function fromJournal(command: Command, run: string, thrown: unknown): Promise<unknown> {
  const error = wrap("cli.trace", thrown);
  if (error.code !== "unavailable" && error.code !== "not_found") throw error;
  const [{ withRecordings }, { traceOfEvents }] = await Promise.all([
    import("../host/with-recordings.ts"),
    import("../host/recordings/trace-of-events.ts"),
  ]);
  const events = await withRecordings(recordedOptionsOf(command), (recordings) => recordings.events(run));
  show(process.stderr, "drawn from the journal: to the millisecond, without chunks\n");
  return traceOfEvents(events);
}
