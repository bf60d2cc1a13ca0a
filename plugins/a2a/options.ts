import { egressOptions } from "venturi/internal";
import { toolOptions } from "venturi/plugin";
import { z } from "zod";

export const Options = z.strictObject({
  ...toolOptions,
  url: z
    .url({ protocol: /^https?$/ })
    .describe("the agent's URL, with its card at .well-known/agent-card.json below, or the URL of the card"),
  headers: z.record(z.string(), z.string()).default({}).describe("sent to this host with every request"),
  description: z.string().optional().describe("description for the calling model, instead of the card's"),
  questions: z
    .boolean()
    .default(true)
    .describe("forward the agent's questions to the run; false: a question ends the call"),
  ...egressOptions,
  effect: z.enum(["pure", "idempotent", "effectful"]).default("effectful"),
  optional: z.boolean().default(false).describe("start even if the agent's card cannot be loaded"),
});
export type Options = z.output<typeof Options>;
