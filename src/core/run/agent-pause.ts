import { z } from "zod";

/** Why the runs of an agent are paused. */
export const AgentPause = z.strictObject({
  /** ms since the epoch. */
  since: z.number(),
  by: z.string().exactOptional(),
  reason: z.string().exactOptional(),
});
export type AgentPause = z.output<typeof AgentPause>;
