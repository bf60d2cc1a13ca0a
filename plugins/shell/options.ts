import { Duration, Size, toolOptions } from "venturi/plugin";
import { z } from "zod";
import { CommandOptions } from "./commands.ts";

/** Options of earlier versions, with what to use instead. */
const formerSandbox: Readonly<Record<string, string>> = {
  auto: "auto is gone: every command runs in a sandbox. Leave the key out for bubblewrap",
  required: "required is the default now: leave the key out",
  off: "off is gone. Leave the key out for bubblewrap, name the command of another sandbox as a list, or say approve: then a person approves each command line",
};

export const ShellOptions = z.strictObject({
  ...toolOptions,
  commands: z.array(CommandOptions).min(1).describe("the programs the model may start"),
  cwd: z.string().describe("folder the commands run in, and all they can write to; relative to the config's folder"),
  path: z.array(z.string()).default(["/usr/local/bin", "/usr/bin", "/bin"]).describe("search path for programs"),
  env: z.record(z.string(), z.string()).default({}).describe("environment variables of the commands"),
  passEnv: z.array(z.string()).default([]).describe("environment variables of the service to pass on"),
  timeout: Duration.default(30_000),
  maxOutput: Size.default(65_536).describe("maximum output kept of stdout and stderr each: first and last half"),
  maxProcesses: z
    .number()
    .int()
    .min(8)
    .max(100_000)
    .default(256)
    .describe("maximum concurrent processes in bubblewrap"),
  killAfter: Duration.default(500).describe("time between SIGTERM and SIGKILL"),
  sandbox: z
    .union([z.enum(["bubblewrap", "approve"]), z.array(z.string().min(1)).min(1)], {
      error: ({ input }) => formerSandbox[String(input)],
    })
    .default("bubblewrap")
    .describe(
      "bubblewrap, or the command of another sandbox as a list ({directory} and {workspace} are replaced), or approve: no sandbox, and a person approves each command line",
    ),
  network: z.boolean().default(false).describe("whether bubblewrap lets commands use the machine's network"),
  mounts: z
    .array(z.string())
    .default([])
    .describe(
      "files and folders bubblewrap shows, read-only, besides the system's own; relative to the config's folder",
    ),
  readOnly: z
    .array(z.string().regex(/^[^/]+$/, { error: "expected a name in the workspace, without a slash" }))
    .max(5)
    .default([".git"])
    .describe("files and folders of the workspace that bubblewrap protects from being written to, if they exist"),
});
export type ShellOptions = z.output<typeof ShellOptions>;
