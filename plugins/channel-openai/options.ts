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
    .describe("what happens to a run when its client disconnects; OpenAI's clients expect cancel"),
  compat: z
    .enum(["report", "strict"])
    .default("report")
    .describe("fields that the agent's model does not support: listed in venturi-warnings, or refused with 400"),
});
export type Options = z.output<typeof Options>;
