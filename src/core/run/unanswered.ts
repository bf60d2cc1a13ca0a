import { z } from "zod";

/**
 * What answers a call that the original never made, with `tools: recorded`. `ask`: a person decides whether the tool runs.
 * `fail`: the call fails. `run`: tools that are `pure` run, the others ask. `agent`: this agent plays the tool. `module`: a
 * function of yours does; not for callers over a network, who would have it loaded.
 */
export const Unanswered = z.union([
  z.enum(["ask", "fail", "run"]),
  z.strictObject({ agent: z.string().min(1) }),
  z.strictObject({ module: z.string().min(1) }),
]);
export type Unanswered = z.output<typeof Unanswered>;
