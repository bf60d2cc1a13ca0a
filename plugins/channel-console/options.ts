import { z } from "zod";

export const Options = z.strictObject({
  path: z
    .string()
    .regex(/^\/[\w/-]*[\w-]$/)
    .default("/console")
    .describe("where the page is"),
});
export type Options = z.output<typeof Options>;
