import { z } from "zod";
import type { Tool } from "./tool.ts";
import { Duration, Size } from "./units.ts";

/** Options that every tool plugin takes; spread into its own `z.strictObject`. */
export const toolOptions = {
  /** Ask a person first: always, once per run, never, or when a condition on the arguments holds. */
  approval: z.union([z.enum(["always", "once", "never"]), z.strictObject({ when: z.string() })]).optional(),
  timeout: Duration.optional(),
  maxOutput: Size.optional(),
};

type Common = Pick<Tool, "approval" | "timeout" | "maxOutput">;

/** The part of a tool that comes from `toolOptions`. */
export function fromToolOptions(options: { [Key in keyof Common]?: Common[Key] | undefined }): Common {
  return {
    ...(options.approval === undefined ? {} : { approval: options.approval }),
    ...(options.timeout === undefined ? {} : { timeout: options.timeout }),
    ...(options.maxOutput === undefined ? {} : { maxOutput: options.maxOutput }),
  };
}
