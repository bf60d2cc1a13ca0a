import { Duration, definePlugin, defineTool, fromToolOptions, Size, toolOptions } from "venturi/plugin";
import { z } from "zod";
import { type Command, CommandOptions, resolveCommand } from "./commands.ts";
import { outputRedactor } from "./environment.ts";
import { openJail } from "./jail.ts";
import { parametersOf } from "./parameters.ts";
import { findSandbox } from "./sandbox.ts";
import { runStep, runSteps } from "./steps.ts";
import { adaptVendorCall, vendorNames } from "./vendor-calls.ts";

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
      aliases: vendorNames,
      adapt: adaptVendorCall,
      parameters: parametersOf([...commands.keys()]),
      effect: "effectful",
      async call(input, call) {
        call.signal.throwIfAborted();
        const runner = { options, jail, commands, sandbox, redact };
        if (input.next === undefined) return await runStep(runner, input, { input, call });
        return { results: await runSteps(runner, [input, ...input.next], { input, call }) };
      },
    });
  },
});

const describe = (command: Command): string => {
  const called = command.description === undefined ? command.name : `${command.name} (${command.description})`;
  return command.arguments === "none" ? `${called} without arguments` : called;
};
