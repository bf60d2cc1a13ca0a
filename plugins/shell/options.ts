import { Duration, Size, toolOptions } from "venturi/plugin";
import { z } from "zod";
import { CommandOptions } from "./commands.ts";

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
