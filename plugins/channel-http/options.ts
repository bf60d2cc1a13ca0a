import { z } from "zod";

export const Options = z.strictObject({
  onDisconnect: z
    .enum(["continue", "cancel"])
    .default("continue")
    .describe("what becomes of a run when the client that started it goes away"),
});
export type Options = z.output<typeof Options>;
