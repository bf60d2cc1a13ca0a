import { relative } from "node:path";
import { type ToolContext, VenturiError } from "venturi/plugin";
import { approveLines } from "./approve.ts";
import { argumentsOf, type Command } from "./commands.ts";
import { childEnvironment } from "./environment.ts";
import { type Executed, execute } from "./execute.ts";
import { type Jail, openDirectory } from "./jail.ts";
import type { Sandbox } from "./launch.ts";
import type { ShellOptions } from "./options.ts";
import type { ShellInput } from "./parameters.ts";

interface Runner {
  readonly name: string;
  readonly options: ShellOptions;
  readonly jail: Jail;
  readonly commands: ReadonlyMap<string, Command>;
  /** Undefined: a person approves each call. */
  readonly sandbox: Sandbox | undefined;
  redact(text: string): string;
}

type Step = Pick<ShellInput, "command" | "arguments" | "directory">;

interface Prepared {
  readonly program: string;
  readonly argv: readonly string[];
  readonly directory: string;
}

type StepResult =
  | Executed
  | { readonly exit: null; readonly timedOut: true; readonly stdout: ""; readonly stderr: string };

/** Runs a call's commands in sequence, under one time and output limit. None runs unless all are allowed. */
export async function runSteps(runner: Runner, input: ShellInput, call: ToolContext) {
  const steps = [input, ...(input.next ?? [])];
  const prepared: Prepared[] = [];
  for (const step of steps) prepared.push(await prepare(runner, step));
  if (runner.sandbox === undefined) {
    const lines = prepared.map(({ program, argv, directory }) => ({ argv: [program, ...argv], directory }));
    await approveLines(runner.name, lines, { stdin: input.stdin, call });
  }
  const { options } = runner;
  const timeout = Math.min(options.timeout, input.timeoutMs ?? options.timeout);
  const deadline = performance.now() + timeout;
  const maxOutput = Math.floor(Math.min(options.maxOutput, input.maxOutput ?? options.maxOutput) / steps.length);
  const results: StepResult[] = [];
  for (const step of prepared) {
    const left = results.length === 0 ? timeout : Math.max(1, Math.ceil(deadline - performance.now()));
    try {
      results.push(
        await runStep(runner, step, { stdin: input.stdin, timeout: left, maxOutput: Math.max(1, maxOutput), call }),
      );
    } catch (thrown) {
      const isLate = VenturiError.isInstance(thrown) && thrown.code === "tool_timeout";
      if (!isLate || input.next === undefined) throw thrown;
      results.push({ exit: null, timedOut: true, stdout: "", stderr: thrown.message });
      break;
    }
  }
  return input.next === undefined ? results[0] : { results };
}

async function prepare({ commands, jail }: Runner, step: Step): Promise<Prepared> {
  const command = commands.get(step.command);
  if (command === undefined) throw new VenturiError("tool.call", "tool_denied", "this command is not allowed");
  const argv = argumentsOf(command, step.arguments);
  await using directory = await openDirectory(jail, step.directory ?? ".");
  return { program: command.program, argv, directory: directory.path };
}

interface Share {
  readonly stdin: string | undefined;
  readonly timeout: number;
  readonly maxOutput: number;
  readonly call: ToolContext;
}

async function runStep({ options, jail, sandbox, redact }: Runner, step: Prepared, share: Share): Promise<Executed> {
  const { stdin, timeout, maxOutput, call } = share;
  // Opened again: an earlier command may have replaced it, or somebody while a person was asked.
  await using directory = await openDirectory(jail, relative(jail.root, step.directory));
  if (directory.path !== step.directory) throw new VenturiError("tool.call", "tool_denied", "its folder was replaced");
  await using wrapped = await sandbox?.wrap(step.program, step.argv, directory.path);
  return await execute(
    { ...(wrapped ?? step), directory, environment: childEnvironment(options, jail), stdin },
    {
      timeout,
      killAfter: options.killAfter,
      maxOutput,
      redact,
      signal: call.signal,
      progress: (text) => call.progress(text),
    },
  );
}
