import { z } from "zod";
import { efforts } from "./provider.ts";

/** The generation options that every wire translates. Other keys go into the request body unchanged. */
export const generationOptions = {
  temperature: z.number().optional().describe("Randomness; 0 is the least."),
  topP: z.number().optional().describe("Nucleus sampling."),
  maxTokens: z.number().int().positive().optional().describe("Most tokens of one answer."),
  stop: z.array(z.string()).optional().describe("Texts that end the answer."),
  seed: z.number().int().optional().describe("For providers that can repeat themselves."),
  reasoning: z
    .strictObject({
      effort: z.enum(efforts).optional().describe("How much to think."),
      budget: z.number().int().positive().optional().describe("Most tokens to think with."),
    })
    .optional()
    .describe("Thinking before answering, where the model can."),
};
