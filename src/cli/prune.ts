import type { Command } from "commander";
import { VenturiError } from "../core/errors/errors.ts";
import { Duration } from "../core/values/units.ts";
import { withRecordings } from "../host/with-recordings.ts";
import { example, recordedOptionsOf } from "./globals.ts";
import { show, showJson } from "./screen.ts";

interface Options {
  readonly olderThan?: string;
  readonly keep?: string;
  readonly json?: true;
}

/** `venturi prune`: removes ended runs, a few at a time, with or without a running service. */
export function configure(command: Command): void {
  command
    .option("--older-than <duration>", "remove runs that ended longer ago than this, such as 30d")
    .option("--keep <count>", "remove all but this many of the newest ended runs")
    .option("--json", "print the count as JSON")
    .addHelpText("after", example("venturi prune --older-than 30d", "venturi prune --keep 1000"))
    .action((options: Options) =>
      withRecordings(recordedOptionsOf(command), async (recordings, config) => {
        const { retention } = config.journal;
        const olderThan = options.olderThan === undefined ? retention?.age : duration(options.olderThan);
        const keep = options.keep === undefined ? retention?.count : count(options.keep);
        if (olderThan === undefined && keep === undefined) {
          throw wrong("name what to remove: --older-than, --keep, or journal.retention in the configuration");
        }
        const pruned = await recordings.prune({
          ...(olderThan === undefined ? {} : { olderThan }),
          ...(keep === undefined ? {} : { keep }),
        });
        const details = {
          runs: pruned,
          ...(olderThan === undefined ? {} : { olderThan }),
          ...(keep === undefined ? {} : { keep }),
        };
        await recordings.journal.audit({ action: "runs.pruned", by: "local", details });
        if (options.json) showJson(process.stdout, JSON.stringify({ pruned }));
        else show(process.stderr, `removed ${pruned} ${pruned === 1 ? "run" : "runs"}\n`);
      }),
    );
}

function duration(text: string): number {
  const parsed = Duration.safeParse(text);
  if (parsed.success) return parsed.data;
  throw wrong(`--older-than: ${parsed.error.issues[0]?.message ?? "is not a duration"}`);
}

function count(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw wrong("--keep: expected a whole number");
}

const wrong = (message: string): VenturiError => new VenturiError("cli.prune", "invalid_input", message);
