import { z } from "zod";

export const Options = z.strictObject({
  onDisconnect: z
    .enum(["continue", "cancel"])
    .default("continue")
    .describe("what happens to a run when the client that started it disconnects"),
});
export type Options = z.output<typeof Options>;
