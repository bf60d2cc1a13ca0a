import { type Command, Option } from "commander";
import { isCode } from "../core/codes.ts";
import { VenturiError, wrap } from "../core/errors.ts";
import { loadConfig } from "../host/config/load.ts";
import { example, loadOptionsOf } from "./globals.ts";
import { spanTree } from "./span-tree.ts";
import { waterfall } from "./waterfall.ts";

interface TraceOptions {
  readonly json?: boolean;
  readonly all?: boolean;
  readonly url?: string;
  readonly key?: string;
}

export function configure(command: Command): void {
  command
    .argument("<run>", "the run's id")
    .option("--json", "the spans as an OTLP JSON document")
    .option("--all", "a line for each chunk and each append")
    .option("--url <url>", "the service; by default where the configuration has it listen")
    .addOption(new Option("--key <key>", "the key for a service that asks for one").env("VENTURI_KEY"))
    .addHelpText("after", example("venturi trace run_0m5x…", "venturi trace run_0m5x… --json > trace.json"))
    .action(async (run: string, options: TraceOptions) => {
      const document = await traceOf(options.url ?? (await serviceUrl(command)), run, options.key).catch((thrown) =>
        fromJournal(command, run, thrown),
      );
      if (options.json) process.stdout.write(`${JSON.stringify(document)}\n`);
      else printTrace(document, process.stdout, { everything: options.all ?? false });
    });
}

/** Draws the trace, as wide as the terminal. */
export function printTrace(document: unknown, to: NodeJS.WriteStream, options: { everything: boolean }): void {
  const tree = spanTree(document);
  const { NO_COLOR } = process.env;
  const color = to.isTTY === true && (NO_COLOR === undefined || NO_COLOR === "");
  to.write(`trace ${tree.traceIds.join(", ")}\n`);
  to.write(waterfall(tree, { ...options, width: to.columns || 120, color }));
}

/** Spans live in the service's memory and go with it; the journal's events stay, and tell the same to the millisecond. */
async function fromJournal(command: Command, run: string, thrown: unknown): Promise<unknown> {
  const error = wrap("cli.trace", thrown);
  if (error.code !== "unavailable" && error.code !== "not_found") throw error;
  const [{ withRecordings }, { traceOfEvents }] = await Promise.all([
    import("../host/recordings/with-recordings.ts"),
    import("../host/recordings/trace-of-events.ts"),
  ]);
  const events = await withRecordings(loadOptionsOf(command), (recordings) => recordings.events(run));
  process.stderr.write("drawn from the journal: to the millisecond, without chunks\n");
  return traceOfEvents(events);
}

async function traceOf(url: string, run: string, key: string | undefined): Promise<unknown> {
  const op = "cli.trace";
  let response: Response;
  try {
    response = await fetch(`${url}/v1/runs/${encodeURIComponent(run)}/trace`, {
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    });
  } catch (cause) {
    throw new VenturiError(op, "unavailable", `no service answers at ${url}; is \`venturi start\` running?`, { cause });
  }
  const body = (await response.json().catch(() => ({}))) as { error?: { code?: unknown; err?: string } }; // the service's own
  if (response.ok) return body;
  const { code, err } = body.error ?? {};
  throw new VenturiError(op, isCode(code) ? code : "unavailable", err ?? `the service answered ${response.status}`);
}

async function serviceUrl(command: Command): Promise<string> {
  const { server } = await loadConfig(loadOptionsOf(command));
  const { host, port } = server.listen;
  // Where it listens on every address it can be asked on this machine's own.
  const reached = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "[::1]" : host.includes(":") ? `[${host}]` : host;
  return `http://${reached}:${port}`;
}
