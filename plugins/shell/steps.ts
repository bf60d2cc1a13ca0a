import { type ToolContext, VenturiError } from "venturi/plugin";
import type { Command } from "./command.ts";
import { childEnvironment } from "./environment.ts";
import { type Executed, execute } from "./execute.ts";
import { checkArguments } from "./guard.ts";
import { type Jail, openDirectory } from "./jail.ts";
import type { ShellOptions } from "./options.ts";
import type { ShellInput } from "./parameters.ts";
import type { Sandbox } from "./sandbox.ts";

interface Runner {
  readonly options: ShellOptions;
  readonly jail: Jail;
  readonly commands: ReadonlyMap<string, Command>;
  readonly sandbox: Sandbox | undefined;
  redact(text: string): string;
}

interface Step {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly directory?: string | undefined;
}

interface Asked {
  readonly input: ShellInput;
  readonly call: ToolContext;
}

export async function runStep(runner: Runner, step: Step, { input, call }: Asked): Promise<Executed> {
  const { options, jail, sandbox, redact } = runner;
  const command = commandOf(runner, step);
  await using directory = await openDirectory(jail, step.directory ?? ".");
  const checked = await checkArguments(command, step.arguments, { jail, directory: directory.path });
  return await execute(
    {
      program: command.program,
      argv: checked.argv,
      directory,
      environment: childEnvironment(options, jail, checked.environment),
      stdin: input.stdin,
      sandbox,
    },
    {
      timeout: Math.min(options.timeout, input.timeoutMs ?? options.timeout),
      killAfter: options.killAfter,
      maxOutput: Math.min(options.maxOutput, input.maxOutput ?? options.maxOutput),
      redact,
      signal: call.signal,
      progress: (text) => call.progress(text),
    },
  );
}

type StepResult =
  | Executed
  | { readonly exit: null; readonly timedOut: true; readonly stdout: ""; readonly stderr: string };

/** Several commands share one call's time and output limits. None runs unless all are allowed. */
export async function runSteps(runner: Runner, steps: readonly Step[], { input, call }: Asked): Promise<StepResult[]> {
  const { options, jail } = runner;
  for (const step of steps) {
    await using directory = await openDirectory(jail, step.directory ?? ".");
    await checkArguments(commandOf(runner, step), step.arguments, { jail, directory: directory.path });
  }
  const deadline = performance.now() + Math.min(options.timeout, input.timeoutMs ?? options.timeout);
  const maxOutput = Math.floor(Math.min(options.maxOutput, input.maxOutput ?? options.maxOutput) / steps.length);
  const results: StepResult[] = [];
  for (const step of steps) {
    const timeoutMs = Math.max(1, Math.ceil(deadline - performance.now()));
    const shared = { ...input, timeoutMs, maxOutput: Math.max(1, maxOutput) };
    try {
      results.push(await runStep(runner, step, { input: shared, call }));
    } catch (thrown) {
      if (!VenturiError.isInstance(thrown) || thrown.code !== "tool_timeout") throw thrown;
      results.push({ exit: null, timedOut: true, stdout: "", stderr: thrown.message });
      return results;
    }
  }
  return results;
}

function commandOf({ commands }: Runner, { command: name }: Step): Command {
  const command = commands.get(name);
  if (command === undefined) throw new VenturiError("tool.call", "tool_denied", "this command is not allowed");
  return command;
}
