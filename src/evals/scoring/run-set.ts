import { z } from "zod";

export const Measured = z.object({
  id: z.string(),
  repeat: z.number().int(),
  run: z.string(),
  ok: z.boolean(),
  code: z.string().exactOptional(),
  asked: z.string(),
  output: z.string(),
  ms: z.number(),
  tokens: z.number(),
  cost: z.number().exactOptional(),
  unanswered: z.number().int(),
  scores: z.record(
    z.string(),
    z.object({ score: z.number(), why: z.string().exactOptional(), runs: z.array(z.string()).exactOptional() }),
  ),
  /** Mean of people's ratings of the recorded run. */
  rating: z.number().exactOptional(),
});
export type Measured = z.output<typeof Measured>;

/** The result of an eval: one entry per item and repetition. Stored as a file, for later comparisons. */
export const RunSet = z.object({
  venturi: z.literal("runset"),
  set: z.string(),
  name: z.string(),
  at: z.number(),
  config: z.string(),
  agent: z.string().exactOptional(),
  model: z.string().exactOptional(),
  scorers: z.array(z.string()),
  /** Items left out because the budget was exhausted. */
  skipped: z.array(z.string()),
  items: z.array(Measured),
});
export type RunSet = z.output<typeof RunSet>;
