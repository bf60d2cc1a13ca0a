import { z } from "zod";

/**
 * What answers a call that the original never made, with `tools: recorded`. `ask`: a person decides whether the tool runs. `fail`: the call
 * fails. `run`: `pure` tools run, others ask. `agent`: this agent plays the tool. `module`: your function answers; not available to network
 * callers, since it loads code.
 */
export const Unanswered = z.union([
  z.enum(["ask", "fail", "run"]),
  z.strictObject({ agent: z.string().min(1) }),
  z.strictObject({ module: z.string().min(1) }),
]);
export type Unanswered = z.output<typeof Unanswered>;
