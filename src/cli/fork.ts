import { resolve } from "node:path";
import type { Command } from "commander";
import { fromJson, VenturiError } from "../core/errors/errors.ts";
import type { ForkRequest } from "../core/run/fork.ts";
import type { Unanswered } from "../core/run/unanswered.ts";
import { openHost } from "../host/open.ts";
import { askPerson } from "./approve.ts";
import { example, recordedGlobalsOf } from "./globals.ts";
import { quietly } from "./quiet.ts";
import { openPrinter } from "./terminal.ts";
import { watchStarted } from "./watch-run.ts";

interface Options {
  readonly after: string;
  readonly input?: string;
  readonly edit: readonly string[];
  readonly model?: string;
  readonly instructions?: string;
  readonly option: readonly string[];
  readonly tools: string;
  readonly unanswered?: string;
  readonly session?: string;
  readonly json?: true;
  readonly quiet?: true;
}

const op = "cli.fork";
const modes = ["recorded", "run", "ask"] as const;

/** `venturi fork RUN --after SEQ`: continues from a step of a recorded run, with changes. */
export function configure(command: Command): void {
  command
    .argument("<run>", "the run's id")
    .requiredOption(
      "--after <seq>",
      "seq of the last event to copy, at the end of a step (see `venturi replay RUN --json`)",
    )
    .option("--input <text>", "another input; only with --after 1")
    .option("--edit <call=output>", "another result for a tool call; may be repeated", collect, [])
    .option("--model <name>", "another model that the agent allows")
    .option("--instructions <text>", "replaces the agent's own")
    .option("--option <name=value>", "a generation option such as temperature=0; may be repeated", collect, [])
    .option(
      "--tools <mode>",
      "recorded: use the original's results and ask about other calls; run: run pure tools; ask: ask about all",
      "recorded",
    )
    .option(
      "--unanswered <who>",
      "what answers calls the original never made: ask, fail, run (pure tools), agent:NAME or module:FILE",
    )
    .option("--session <id>", "put the new run into this new conversation")
    .option("--json", "print the new run's events, one JSON line each")
    .option("-q, --quiet", "print only the answer")
    .addHelpText(
      "after",
      example(
        'venturi fork run_0m5x… --after 1 --input "What is 17 * 24?"',
        "venturi fork run_0m5x… --after 31 --edit call_1=392 --model small",
      ),
    )
    .action(async (run: string, options: Options) => {
      const request = requestOf(options);
      const { config, set } = recordedGlobalsOf(command);
      const host = await openHost({ configFile: config, set: quietly(set), shadows: false, shortLived: true });
      try {
        const forked = await host.runs.fork(run, request);
        const printer = openPrinter({ json: options.json === true, quiet: options.quiet === true });
        const last = await watchStarted({ runs: host.runs, printer, approve: askPerson }, forked.run);
        if (last.type === "run.failed") process.exitCode = fromJson(last.error).exit;
      } finally {
        await host.close();
      }
    });
}

function requestOf(options: Options): ForkRequest {
  const after = Number(options.after);
  if (!Number.isInteger(after) || after < 1) {
    throw new VenturiError(op, "invalid_input", `--after: "${options.after}" is not the seq of an event`);
  }
  const tools = modes.find((mode) => mode === options.tools);
  if (tools === undefined) throw new VenturiError(op, "invalid_input", `--tools: one of ${modes.join(", ")}`);
  const { input, model, instructions, session } = options;
  const edit = options.edit.map((text) => pair("--edit", text)).map(([call, output]) => ({ call, output, ok: true }));
  const chosen = options.option.map((text) => pair("--option", text)).map(([name, value]) => [name, readValue(value)]);
  return {
    after,
    tools,
    ...(input === undefined ? {} : { input }),
    ...(model === undefined ? {} : { model }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(session === undefined ? {} : { session }),
    ...(options.unanswered === undefined ? {} : { unanswered: unansweredOf(options.unanswered) }),
    ...(edit.length === 0 ? {} : { edit }),
    ...(chosen.length === 0 ? {} : { options: Object.fromEntries(chosen) }),
  };
}

/** `agent:NAME`, `module:FILE` or a keyword. */
export function unansweredOf(text: string): Unanswered {
  const [kind = "", ...rest] = text.split(":");
  const name = rest.join(":");
  if (kind === "agent" && name !== "") return { agent: name };
  if (kind === "module" && name !== "") return { module: resolve(name) };
  if (text === "ask" || text === "fail" || text === "run") return text;
  throw new VenturiError(op, "invalid_input", "--unanswered: one of ask, fail, run, agent:NAME, module:FILE");
}

const collect = (value: string, before: readonly string[]) => [...before, value];

function pair(flag: string, text: string): [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw new VenturiError(op, "invalid_input", `${flag}: "${text}" is not name=value`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** JSON where possible, text otherwise. */
function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
