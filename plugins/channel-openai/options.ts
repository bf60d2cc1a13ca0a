import { z } from "zod";

export const Options = z.strictObject({
  prefix: z
    .string()
    .regex(/^\/[\w/-]*$/)
    .default("/openai/v1")
    .describe("where the API is mounted"),
  onDisconnect: z
    .enum(["continue", "cancel"])
    .default("cancel")
    .describe("what becomes of a run when its client goes away; OpenAI's clients expect cancel"),
  compat: z
    .enum(["report", "strict"])
    .default("report")
    .describe("fields that the agent's model cannot be told: named in venturi-warnings, or refused with 400"),
});
export type Options = z.output<typeof Options>;
