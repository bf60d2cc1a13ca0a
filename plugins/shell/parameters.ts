import { z } from "zod";

/** A command, optionally followed by others. */
export function parametersOf(names: readonly string[]) {
  const step = {
    command: z.enum(names as [string, ...string[]]), // At least one, by the options' schema.
    arguments: z.array(z.string().max(4_096)).max(64).default([]),
    directory: z.string().max(4_096).optional().describe("folder below the workspace to run in"),
  };
  return z.strictObject({
    ...step,
    stdin: z.string().max(1_048_576).optional(),
    next: z
      .array(z.strictObject(step))
      .max(15)
      .optional()
      .describe("commands to run after it, whatever its exit status"),
    timeoutMs: z.number().int().positive().optional().describe("a shorter timeout than the default"),
    maxOutput: z.number().int().positive().optional().describe("a lower output limit than the default"),
  });
}

export type ShellInput = z.output<ReturnType<typeof parametersOf>>;
