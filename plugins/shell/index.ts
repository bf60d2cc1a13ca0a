import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { definePlugin, defineTool, fromToolOptions } from "venturi/plugin";
import { type Command, resolveCommand } from "./commands.ts";
import { outputRedactor } from "./environment.ts";
import { isInside, openJail } from "./jail.ts";
import { ShellOptions } from "./options.ts";
import { parametersOf } from "./parameters.ts";
import { findSandbox } from "./sandbox.ts";
import { runSteps } from "./steps.ts";
import { adaptVendorCall, vendorNames } from "./vendor-calls.ts";

export default definePlugin({
  name: "shell",
  kind: "tool",
  description: "Runs commands that the config names, in a sandbox",
  options: ShellOptions,
  async create(options, context) {
    const jail = await openJail(options.cwd, context.folder);
    const commands = new Map<string, Command>();
    for (const entry of options.commands) {
      const command = await resolveCommand(entry, options.path);
      commands.set(command.name, command);
    }
    const mounts = options.mounts.map((path) => resolve(context.folder, path));
    const sandbox = await findSandbox({ ...options, mounts }, jail, context.log);
    if (isInside(jail, await realpath(context.folder)))
      context.log.warn("cwd holds the configuration: commands can read and change it", { tool: context.name });
    const redact = outputRedactor(options);

    return defineTool({
      ...fromToolOptions(options),
      // Without a sandbox each call asks by itself, showing the exact command lines; asking before that would ask twice.
      ...(sandbox === undefined ? { approval: "never" as const } : {}),
      // The command is stopped and its output truncated here; the loop's limits are only a backstop.
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
      input: parametersOf([...commands.keys()]),
      effect: "effectful",
      async call(input, call) {
        call.signal.throwIfAborted();
        return await runSteps({ name: context.name, options, jail, commands, sandbox, redact }, input, call);
      },
    });
  },
});

const describe = (command: Command): string => {
  const called = command.description === undefined ? command.name : `${command.name} (${command.description})`;
  return command.arguments === "none" ? `${called} without arguments` : called;
};
