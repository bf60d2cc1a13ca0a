import { z } from "zod";
import { Duration, Size } from "../values/units.ts";
import type { Approval, Tool } from "./tool.ts";

/** Options shared by all tool plugins; spread into their `z.strictObject`. */
export const toolOptions = {
  /** Require approval: always, once per run, never, or when a condition on the arguments holds. */
  approval: z
    .union([
      z.enum(["always", "once", "never"]),
      z.strictObject({ when: z.string().optional(), show: z.array(z.string()).max(10).optional() }),
    ])
    .optional(),
  timeout: Duration.optional(),
  maxOutput: Size.optional(),
};

type Common = Pick<Tool, "timeout" | "maxOutput"> & { readonly approval?: Approval };

/** The tool properties set by `toolOptions`. */
export function fromToolOptions(options: { [Key in keyof Common]?: Common[Key] | undefined }): Common {
  return {
    ...(options.approval === undefined ? {} : { approval: options.approval }),
    ...(options.timeout === undefined ? {} : { timeout: options.timeout }),
    ...(options.maxOutput === undefined ? {} : { maxOutput: options.maxOutput }),
  };
}
