import { egressOptions } from "venturi/internal";
import { toolOptions } from "venturi/plugin";
import { z } from "zod";

export const Options = z.strictObject({
  ...toolOptions,
  url: z
    .url({ protocol: /^https?$/ })
    .describe("where the agent is: its card is at .well-known/agent-card.json below, or this is the card itself"),
  headers: z.record(z.string(), z.string()).default({}).describe("sent to this host with every request"),
  description: z.string().optional().describe("what the calling model sees, in place of the card's words"),
  questions: z
    .boolean()
    .default(true)
    .describe("questions of the agent become questions of the run; false: they end the call"),
  ...egressOptions,
  effect: z.enum(["pure", "idempotent", "effectful"]).default("effectful"),
  optional: z.boolean().default(false).describe("start without the agent's card"),
});
export type Options = z.output<typeof Options>;
