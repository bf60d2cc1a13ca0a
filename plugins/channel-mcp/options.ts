import { Duration } from "venturi/plugin";
import { z } from "zod";

export const Options = z.strictObject({
  prefix: z
    .string()
    .regex(/^\/[\w/-]+$/)
    .default("/mcp")
    .describe("where the server is mounted"),
  taskAfter: Duration.default(10_000).describe(
    "a call that takes longer is answered with the handle of its task, where the client takes tasks",
  ),
});
export type Options = z.output<typeof Options>;
