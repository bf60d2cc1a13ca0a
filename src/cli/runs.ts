import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { VenturiError, wrap } from "../core/errors/errors.ts";
import { outcomes } from "../core/run/events.ts";
import type { ListQuery } from "../core/run/list-query.ts";
import type { RunRow } from "../core/run/run-row.ts";
import { momentIn } from "../core/values/moment.ts";
import { Duration } from "../core/values/units.ts";
import { example, recordedOptionsOf } from "./globals.ts";
import { forOneLine, show, showJson } from "./screen.ts";

interface Options {
  readonly status?: string;
  readonly agent?: string;
  readonly since?: string;
  readonly limit: string;
  readonly follow?: true;
  readonly json?: true;
}

const op = "cli.runs";
const statuses = ["ready", "running", "waiting", ...outcomes];
const pollMs = 500;

/** `venturi runs`: the runs in the journal, newest last, next to the prompt. */
export function configure(command: Command): void {
  command
    .option("--status <status>", `only runs that are ${statuses.join(", ")}`)
    .option("--agent <name>", "only runs of this agent")
    .option("--since <time>", 'only runs started since then: "15m", "2h", "7d", or a date')
    .option("--limit <number>", "maximum number of runs", "50")
    .option("-f, --follow", "keep watching, with a line for each run that starts or changes")
    .option("--json", "print one JSON line per run")
    .addHelpText("after", example("venturi runs --status failed --since 1h", "venturi runs --follow"))
    .action(async (options: Options) => {
      const query = queryOf(options);
      const since = sinceOf(options.since);
      const limit = limitOf(options.limit);
      const { withRecordings } = await import("../host/with-recordings.ts");
      await withRecordings(recordedOptionsOf(command), async ({ journal }) => {
        const list = async () => (await journal.list({ ...query, limit })).runs.filter((row) => row.createdAt >= since);
        const print = (row: RunRow) =>
          options.json ? showJson(process.stdout, JSON.stringify(viewOf(row))) : show(process.stdout, lineOf(row));
        const shown = new Map<string, string>();
        // Installed before the first line: Ctrl-C may come while a list is being read.
        const stop = options.follow ? stopSignal() : undefined;
        for (const row of (await list()).reverse()) {
          shown.set(row.run, statusOf(row));
          print(row);
        }
        if (shown.size === 0 && !options.follow) show(process.stderr, "no runs\n");
        while (stop !== undefined && !(await stop.within(pollMs))) {
          for (const row of (await list()).reverse()) {
            if (shown.get(row.run) === statusOf(row)) continue;
            shown.set(row.run, statusOf(row));
            print(row);
          }
        }
      });
    });
}

function queryOf({ status, agent }: Options): ListQuery {
  const of = agent === undefined ? {} : { agent };
  if (status === undefined) return of;
  const outcome = outcomes.find((each) => each === status);
  if (outcome !== undefined) return { ...of, outcome };
  if (status === "waiting") return { ...of, waiting: true };
  if (status === "ready" || status === "running") return { ...of, state: status, waiting: false };
  throw new VenturiError(op, "invalid_input", `--status: "${status}" is none of ${statuses.join(", ")}`);
}

export function sinceOf(text: string | undefined): number {
  if (text === undefined) return 0;
  const span = Duration.safeParse(text);
  if (span.success) return Date.now() - span.data;
  const date = momentIn(text);
  if (date !== undefined) return date;
  const message = `--since: "${text}" is neither a duration such as "2h" nor a date such as 2026-11-17 or 2026-11-17T09:30Z`;
  throw new VenturiError(op, "invalid_input", message);
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit > 0 && limit <= 1_000) return limit;
  throw new VenturiError(op, "invalid_input", "--limit: expected a number from 1 to 1000");
}

export function statusOf(row: RunRow): string {
  if (row.state === "done") return row.outcome ?? "failed";
  return row.asking > 0 ? "waiting" : row.state;
}

const viewOf = (row: RunRow): Record<string, unknown> => ({
  run: row.run,
  status: statusOf(row),
  agent: row.agent,
  session: row.session,
  createdAt: new Date(row.createdAt).toISOString(),
  updatedAt: new Date(row.updatedAt).toISOString(),
  head: row.head,
});

function lineOf(row: RunRow): string {
  const at = new Date(row.createdAt).toISOString().slice(0, 19).replace("T", " ");
  const took =
    row.state === "done" ? `${((row.digest?.ms ?? row.updatedAt - row.createdAt) / 1_000).toFixed(1)} s` : "";
  return `${at}  ${row.run}  ${statusOf(row).padEnd(8)}  ${took.padStart(9)}  ${forOneLine(row.agent)}\n`;
}

/** Watches for Ctrl-C and for a closed output, until the process ends. */
function stopSignal(): { within(ms: number): Promise<boolean> } {
  const stopped = new Promise<boolean>((resolve, reject) => {
    process.once("SIGINT", () => resolve(true));
    process.once("SIGTERM", () => resolve(true));
    process.stdout.once("error", (thrown) => reject(wrap(op, thrown)));
  });
  stopped.catch(() => {}); // Reported by the next wait.
  return { within: (ms) => Promise.race([stopped, sleep(ms, false)]) };
}
