import type { Command } from "commander";
import { VenturiError } from "../core/errors/errors.ts";
import type { AuditRecord } from "../core/journal/audit.ts";
import { withRecordings } from "../host/with-recordings.ts";
import { example, recordedOptionsOf } from "./globals.ts";
import { forOneLine, show, showJson } from "./screen.ts";

interface Options {
  readonly tenant?: string;
  readonly action?: string;
  readonly run?: string;
  readonly limit: string;
  readonly json?: true;
}

/** `venturi audit`: who did what, newest first, for all tenants. */
export function configure(command: Command): void {
  command
    .option("--tenant <name>", "only actions in this tenant")
    .option("--action <name>", "such as auth.failed, approval.given, approval.denied, run.cancelled, config.reloaded")
    .option("--run <run>", "only actions on this run")
    .option("--limit <count>", "maximum number of entries", "50")
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("venturi audit --action approval.given", "venturi audit --run RUN --json"))
    .action((options: Options) =>
      withRecordings(recordedOptionsOf(command), async ({ journal }) => {
        const { tenant, action, run } = options;
        const { records } = await journal.audits({
          limit: limitOf(options.limit),
          ...(tenant === undefined ? {} : { tenant }),
          ...(action === undefined ? {} : { action }),
          ...(run === undefined ? {} : { run }),
        });
        if (records.length === 0 && !options.json) show(process.stderr, "nothing is recorded\n");
        for (const record of records) {
          if (options.json) showJson(process.stdout, JSON.stringify(record));
          else show(process.stdout, `${forOneLine(lineOf(record))}\n`);
        }
      }),
    );
}

function lineOf({ at, action, by, tenant, run, details }: AuditRecord): string {
  const where = [tenant === undefined ? "" : `tenant ${tenant}`, run ?? ""].filter((each) => each !== "").join(" ");
  const rest = details === undefined ? "" : JSON.stringify(details);
  return [new Date(at).toISOString(), action.padEnd(16), JSON.stringify(by), where, rest]
    .filter((each) => each !== "")
    .join("  ");
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit > 0) return limit;
  throw new VenturiError("cli.audit", "invalid_input", "--limit: expected a whole number");
}
