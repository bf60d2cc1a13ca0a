import type { Command } from "commander";
import { fromJson, VenturiError } from "../core/errors/errors.ts";
import { openHost } from "../host/open.ts";
import { askPerson } from "./approve.ts";
import { example, globalsOrBox } from "./globals.ts";
import { quietly } from "./quiet.ts";
import { openPrinter, readInput } from "./terminal.ts";
import { watchRun } from "./watch-run.ts";

interface Options {
  readonly json?: true;
  readonly quiet?: true;
  readonly session?: string;
  readonly trace?: true;
  readonly input: readonly string[];
}

/** `venturi run AGENT "text"`: one run, streamed. */
export function configure(command: Command): void {
  command
    .argument("<agent>", "an agent of the configuration")
    .argument("[text...]", "what to ask; - or nothing reads standard input")
    .option("--json", "print the run's events, one JSON line each")
    .option("-q, --quiet", "print only the answer")
    .option("--trace", "afterwards draw the run's trace on stderr")
    .option("--session <id>", "continue this conversation")
    .option("--input <name=value>", "a value for one of the agent's inputs; may be repeated", collect, [])
    .addHelpText(
      "after",
      example('venturi run assistant "What is 17 * 23?"', "echo hello | venturi run assistant --json"),
    )
    .action(async (agent: string, words: string[], options: Options) => {
      const text = words.length === 0 || words[0] === "-" ? await readInput() : words.join(" ");
      if (text === "" && options.input.length === 0) {
        throw new VenturiError("cli.run", "invalid_input", `the input is empty: venturi run ${agent} "your question"`);
      }
      const { config, set } = globalsOrBox(command);
      const host = await openHost({ configFile: config, set: quietly(set), shadows: false, shortLived: true });
      try {
        const variables = Object.fromEntries(options.input.map(assignment));
        const hasVariables = Object.keys(variables).length > 0;
        const last = await watchRun(
          {
            runs: host.runs,
            printer: openPrinter({ json: options.json === true, quiet: options.quiet === true }),
            approve: askPerson,
          },
          {
            agent,
            input: { ...(text === "" ? {} : { text }), ...(hasVariables ? { variables } : {}) },
            ...(options.session === undefined ? {} : { session: options.session }),
          },
        );
        if (options.trace) await drawTrace(host.telemetry.trace(last.run));
        if (last.type === "run.failed") process.exitCode = fromJson(last.error).exit;
      } finally {
        await host.close();
      }
    });
}

async function drawTrace(document: unknown): Promise<void> {
  if (document === undefined) return;
  const { printTrace } = await import("./trace.ts");
  printTrace(document, process.stderr, { everything: false });
}

const collect = (value: string, before: readonly string[]) => [...before, value];

/** Values are parsed as JSON where possible, text otherwise. */
function assignment(text: string): [string, unknown] {
  const at = text.indexOf("=");
  if (at < 1) throw new VenturiError("cli.run", "invalid_input", `"${text}" is not name=value`);
  const value = text.slice(at + 1);
  try {
    return [text.slice(0, at), JSON.parse(value)];
  } catch {
    return [text.slice(0, at), value];
  }
}
