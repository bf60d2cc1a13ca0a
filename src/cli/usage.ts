import type { Command } from "commander";
import { VenturiError } from "../core/errors/errors.ts";
import type { UsageKey } from "../core/journal/money.ts";
import { type UsageReport, usageCsv, usageQuery, usageReport } from "../core/journal/usage-report.ts";
import { withRecordings } from "../host/with-recordings.ts";
import { example, recordedOptionsOf } from "./globals.ts";
import { dollars, forOneLine, show, showData, showJson } from "./screen.ts";

interface Options {
  readonly by: string;
  readonly since?: string;
  readonly until?: string;
  readonly tenant?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly key?: string;
  readonly user?: string;
  readonly csv?: true;
  readonly json?: true;
}

const names = ["tenant", "agent", "model", "key", "user"] as const satisfies readonly UsageKey[];

/** `venturi usage`: usage and cost of generations, with or without a running service. */
export function configure(command: Command): void {
  command
    .option("--by <keys>", "day, tenant, agent, model, key, user: one or several, separated by commas", "day")
    .option("--since <day>", "from this day (2026-11-17, UTC), or an age (7d, 4w)")
    .option("--until <day>", "up to this day");
  for (const name of names) command.option(`--${name} <name>`, `only of this ${name}`);
  command
    .option("--csv", "as CSV, for spreadsheets")
    .option("--json", "as JSON")
    .addHelpText("after", example("venturi usage --by day,model --since 7d", "venturi usage --by user --csv"))
    .action((options: Options) =>
      withRecordings(recordedOptionsOf(command), async ({ journal }) => {
        if (journal.usage === undefined)
          throw new VenturiError("cli.usage", "invalid_input", "this journal keeps no sums of usage");
        const given = names.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]]));
        const query = { ...usageQuery(options, Date.now()), only: Object.fromEntries(given) as Record<string, string> };
        const report = usageReport(query, await journal.usage(query));
        if (options.json) return showJson(process.stdout, JSON.stringify(report));
        if (options.csv) return showData(process.stdout, usageCsv(report));
        show(process.stdout, `${table(report).join("\n")}\n`);
      }),
    );
}

function table({ by, rows, total }: UsageReport): string[] {
  const head = [...by, "cost", "generations", "failed", "input", "cached", "output", "unpriced"];
  const line = (row: UsageReport["total"], keys: readonly string[]) => [
    ...keys,
    dollars(row.cost),
    ...[row.generations, row.failed, row.inputTokens, row.cacheReadTokens, row.outputTokens, row.unpriced].map(String),
  ];
  const lines = [
    head,
    ...rows.map((row) =>
      line(
        row,
        by.map((key) => forOneLine(row[key] === "" ? "-" : (row[key] ?? ""))),
      ),
    ),
    line(
      total,
      by.map((_, index) => (index === 0 ? "total" : "")),
    ),
  ];
  const widths = head.map((_, column) => Math.max(...lines.map((each) => each[column]?.length ?? 0)));
  return lines.map((each) =>
    each
      .map((text, column) =>
        column < by.length ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
}
