import { z } from "zod";
import { efforts } from "./provider.ts";

/** The generation options that every wire translates. Other keys go into the request body unchanged. */
export const generationOptions = {
  temperature: z.number().optional().describe("Randomness; 0 is the least."),
  topP: z.number().optional().describe("Nucleus sampling."),
  maxTokens: z.number().int().positive().optional().describe("Maximum tokens of one answer."),
  stop: z.array(z.string()).optional().describe("Stop sequences."),
  seed: z.number().int().optional().describe("Seed, for providers that support it."),
  reasoning: z
    .strictObject({
      effort: z.enum(efforts).optional().describe("How much to think."),
      budget: z.number().int().positive().optional().describe("Maximum reasoning tokens."),
    })
    .optional()
    .describe("Reasoning before the answer, if the model supports it."),
};
