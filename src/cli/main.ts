import { Command, CommanderError } from "commander";
import { VenturiError, wrap } from "../core/errors/errors.ts";
import { addGlobals, example } from "./globals.ts";
import { show } from "./screen.ts";
import { codeOf } from "./system-error.ts";
import { printVersion } from "./version.ts";

/** A command. Its module is loaded only when it is called. */
interface Entry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<{ configure(command: Command): void }>;
}

const entries: readonly Entry[] = [
  { name: "start", summary: "run the service", load: () => import("./start.ts") },
  { name: "run", summary: "run an agent once and stream it to the terminal", load: () => import("./run.ts") },
  { name: "chat", summary: "chat with an agent", load: () => import("./chat.ts") },
  { name: "mcp", summary: "offer the agents as tools over stdio (MCP)", load: () => import("./mcp.ts") },
  { name: "acp", summary: "offer the agents to an editor over stdio (ACP)", load: () => import("./acp.ts") },
  { name: "init", summary: "write a starter configuration", load: () => import("./init.ts") },
  {
    name: "validate",
    summary: "check the configuration and report every problem",
    load: () => import("./validate.ts"),
  },
  { name: "config", summary: "show the effective configuration or its JSON Schema", load: () => import("./config.ts") },
  {
    name: "plugins",
    summary: "list the plugins, their kind and where they come from",
    load: () => import("./plugins.ts"),
  },
  { name: "plugin", summary: "start a new plugin", load: () => import("./plugin-new.ts") },
  {
    name: "reload",
    summary: "make the running service reload its configuration",
    load: () => import("./reload.ts"),
  },
  {
    name: "decode",
    summary: "decode recorded provider streams, one JSON line per file",
    load: () => import("./decode.ts"),
  },
  {
    name: "trace",
    summary: "draw a run's trace as a waterfall",
    load: () => import("./trace.ts"),
  },
  { name: "why", summary: "explain why a run was slow or failed", load: () => import("./why.ts") },
  { name: "runs", summary: "list runs, newest last", load: () => import("./runs.ts") },
  {
    name: "approvals",
    summary: "list and answer pending approvals and questions",
    load: () => import("./approvals.ts"),
  },
  {
    name: "simulate",
    summary: "run a simulated model server, for demos and tests",
    load: () => import("./simulate.ts"),
  },
  { name: "replay", summary: "replay a recorded run", load: () => import("./replay.ts") },
  {
    name: "pause",
    summary: "pause a run after its current round, or resume it",
    load: () => import("./pause.ts"),
  },
  {
    name: "fork",
    summary: "start a new run from a step of another, with changes",
    load: () => import("./fork.ts"),
  },
  {
    name: "compare",
    summary: "compare two runs: time, tokens, calls, answers",
    load: () => import("./compare.ts"),
  },
  {
    name: "eval",
    summary: "repeat recorded runs and inputs without side effects, and score them",
    load: () => import("./eval.ts"),
  },
  {
    name: "evals",
    summary: "compare shadow runs with the live runs",
    load: () => import("./evals.ts"),
  },
  { name: "dataset", summary: "collect runs into datasets for evals", load: () => import("./dataset.ts") },
  { name: "export", summary: "export a run as JSON lines", load: () => import("./export.ts") },
  { name: "import", summary: "import an exported run", load: () => import("./import.ts") },
  {
    name: "audit",
    summary: "show the audit log: approvals, cancels, failed logins, reloads",
    load: () => import("./audit.ts"),
  },
  {
    name: "usage",
    summary: "tokens and cost by day, tenant, agent, model, key or user",
    load: () => import("./usage.ts"),
  },
  {
    name: "schedules",
    summary: "list schedules with their next and last runs",
    load: () => import("./schedules.ts"),
  },
  {
    name: "webhooks",
    summary: "list webhooks and failed deliveries, and resend them",
    load: () => import("./webhooks.ts"),
  },
  { name: "prune", summary: "remove ended runs", load: () => import("./prune.ts") },
  {
    name: "reindex",
    summary: "rebuild the summaries of ended runs that lists and search use",
    load: () => import("./reindex.ts"),
  },
  { name: "doctor", summary: "find what would keep the service from working", load: () => import("./doctor.ts") },
  {
    name: "completion",
    summary: "print a completion script for bash, zsh or fish",
    load: () => import("./completion.ts"),
  },
];
export const commandNames: readonly string[] = entries.map((entry) => entry.name);

/** Each command's options, such as `--json`, for completion. */
export async function commandFlags(): Promise<Map<string, string[]>> {
  const flags = new Map<string, string[]>();
  for (const { name, load } of entries) {
    const command = new Command(name);
    (await load()).configure(command);
    const all = [command, ...command.commands].flatMap((each) => each.options);
    flags.set(
      name,
      [...new Set(all.map(({ long, short }) => long ?? short ?? ""))].filter((flag) => flag !== ""),
    );
  }
  return flags;
}

const usage = 2;

export async function main(argv: readonly string[]): Promise<void> {
  stopOnClosedOutput();
  const program = new Command("venturi")
    .description("A plugin-based agent runtime that streams, journals and measures every token.")
    .option("-V, --version", "print the version")
    .showHelpAfterError("(venturi --help lists the commands)")
    .addHelpText("after", example("venturi start", 'venturi run assistant "What is 17 * 23?"', "venturi help run"))
    .configureHelp({ showGlobalOptions: true })
    .exitOverride();
  addGlobals(program);
  program.on("option:version", () => {
    printVersion();
    throw new CommanderError(0, "venturi.version", "");
  });
  const called = calledName(argv.slice(2));
  for (const entry of entries) {
    const command = program.command(entry.name).description(entry.summary).exitOverride();
    if (entry.name === called) (await entry.load()).configure(command);
  }
  try {
    await program.parseAsync(argv);
  } catch (thrown) {
    process.exitCode = report(thrown);
  }
}

/** The command's name among the arguments: `--config FILE run`, `help run`, `run --help`. */
function calledName(words: readonly string[]): string | undefined {
  const names: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--config" || word === "--set") at++;
    else if (!word.startsWith("-")) names.push(word);
  }
  return names[0] === "help" ? names[1] : names[0];
}

function report(thrown: unknown): number {
  // Commander has already reported it; asking for help is not an error.
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : usage;
  const error = wrap("cli.run", thrown, codeOf(thrown));
  const isConfig = error.code === "config_invalid";
  show(process.stderr, isConfig ? `${error.message}\n` : `${error}\n`);
  if (!VenturiError.isInstance(thrown) && thrown instanceof Error && process.env.VENTURI_DEBUG !== undefined) {
    show(process.stderr, `${thrown.stack}\n`);
  }
  return error.exit;
}

/**
 * `venturi … | head` ends with 0, and output to a full disk with an error. As Ctrl-C does, both cancel a run: left as it is, the next
 * command would go on with it. So does a terminal that was closed, to which writes fail with EIO.
 */
function stopOnClosedOutput(): void {
  let closed = false;
  process.stdout.on("error", (cause: NodeJS.ErrnoException) => {
    if (closed) return;
    closed = true;
    const message = `standard output cannot be written: ${cause.message}`;
    const error = isGone(cause) ? undefined : new VenturiError("cli.output", "unavailable", message, { cause });
    if (error !== undefined) show(process.stderr, `${error}\n`);
    const status = error?.exit ?? (cause.code === "EPIPE" ? 0 : 129);
    process.once("exit", () => {
      process.exitCode = status;
    });
    if (!process.emit("SIGINT")) process.exit(status);
  });
  process.stderr.on("error", (error: NodeJS.ErrnoException) => {
    if (!isGone(error)) throw error; // Otherwise there is nobody to tell.
  });
}

const isGone = ({ code }: NodeJS.ErrnoException): boolean => code === "EPIPE" || code === "EIO";
