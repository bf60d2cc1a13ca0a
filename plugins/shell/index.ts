import { Duration, definePlugin, defineTool, fromToolOptions, Size, toolOptions, VenturiError } from "venturi/plugin";
import { z } from "zod";
import { type Command, CommandOptions, resolveCommand } from "./commands.ts";
import { childEnvironment, outputRedactor } from "./environment.ts";
import { execute } from "./execute.ts";
import { checkArguments } from "./guard.ts";
import { openDirectory, openJail } from "./jail.ts";
import { findSandbox } from "./sandbox.ts";

export const ShellOptions = z.strictObject({
  ...toolOptions,
  commands: z.array(CommandOptions).min(1).describe("the only programs that are ever run"),
  cwd: z.string().describe("folder the commands run in and may not leave; relative to the config's folder"),
  path: z.array(z.string()).default(["/usr/local/bin", "/usr/bin", "/bin"]).describe("where programs are looked for"),
  env: z.record(z.string(), z.string()).default({}).describe("variables the commands get"),
  passEnv: z.array(z.string()).default([]).describe("variables of the service that the commands get too"),
  timeout: Duration.default(30_000),
  maxOutput: Size.default(65_536).describe(
    "kept of stdout and of stderr each, half from the head and half from the tail",
  ),
  killAfter: Duration.default(500).describe("between SIGTERM and SIGKILL"),
  sandbox: z
    .enum(["auto", "off", "required"])
    .default("auto")
    .describe(
      "bubblewrap: auto requires it for every command that can run code, required for all of them, off runs them without",
    ),
  network: z.boolean().default(false).describe("whether the sandbox has a network"),
  mounts: z.array(z.string()).default([]).describe("folders the sandbox shows, read-only, besides the system's own"),
});
export type ShellOptions = z.output<typeof ShellOptions>;

export default definePlugin({
  name: "shell",
  kind: "tool",
  description: "Runs commands that the config names, without a shell",
  options: ShellOptions,
  async create(options, context) {
    const jail = await openJail(options.cwd, context.folder);
    const commands = new Map<string, Command>();
    for (const entry of options.commands) {
      const command = await resolveCommand(entry, options.path);
      commands.set(command.name, command);
    }
    const sandbox = await findSandbox(options, { jail, log: context.log, commands: [...commands.values()] });
    const redact = outputRedactor(options);
    const names = [...commands.keys()];

    return defineTool({
      ...fromToolOptions(options),
      // The command is ended and its output cut here; the loop's own limits are only there in case that fails.
      timeout: options.timeout + options.killAfter + 1_000,
      maxOutput: 2 * options.maxOutput + 1_000,
      name: context.name,
      description: [
        `Runs one of these commands in ${sandbox === undefined ? "the workspace" : "a sandbox over the workspace"}:`,
        `${[...commands.values()].map(describe).join("; ")}.`,
        "Arguments are passed as they are: no shell, no globs, no pipes, no variables. Paths are relative to the workspace.",
      ].join(" "),
      parameters: z.strictObject({
        command: z.enum(names as [string, ...string[]]), // at least one, by the options' schema
        arguments: z.array(z.string().max(4_096)).max(64).default([]),
        directory: z.string().max(4_096).optional().describe("folder below the workspace to run in"),
        stdin: z.string().max(1_048_576).optional(),
      }),
      effect: "effectful",
      async call(input, call) {
        call.signal.throwIfAborted();
        const command = commands.get(input.command);
        if (command === undefined) throw new VenturiError("tool.call", "tool_denied", "this command is not allowed");
        await using directory = await openDirectory(jail, input.directory ?? ".");
        const checked = await checkArguments(command, input.arguments, { jail, directory: directory.path });
        return await execute(
          {
            program: command.program,
            argv: checked.argv,
            directory,
            environment: childEnvironment(options, jail, checked.environment),
            stdin: input.stdin,
            sandbox,
          },
          { ...options, redact, signal: call.signal, progress: (text) => call.progress(text) },
        );
      },
    });
  },
});

const describe = (command: Command): string => {
  const called = command.description === undefined ? command.name : `${command.name} (${command.description})`;
  return command.arguments === "none" ? `${called} without arguments` : called;
};
