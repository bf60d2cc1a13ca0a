import { z } from "zod";
import { Message } from "../model/messages.ts";
import { named } from "../values/schema-names.ts";

/** The request of a round to its model, rebuilt from the journal by the same code. */
export const Prompt = z.object({
  round: z.number().int(),
  attempt: z.number().int(),
  seq: z.number().int().describe("of its round.started"),
  model: z.string(),
  exact: z
    .boolean()
    .describe("false: part of it is as the configuration is now, or a hook may have changed it; see notes"),
  notes: z.array(z.string()).describe("what is not as it was, and what the model's wire could not express"),
  messages: z.array(Message).describe("instructions first; large content by its hash"),
  tools: z.array(
    z.object({ name: z.string(), description: z.string(), parameters: z.record(z.string(), z.unknown()) }),
  ),
  options: z.record(z.string(), z.unknown()),
  toolChoice: z.unknown().optional(),
  output: z.unknown().optional(),
});
export type Prompt = z.output<typeof Prompt>;
named("Prompt", Prompt);
