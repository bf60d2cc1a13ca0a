import { z } from "zod";

export const Options = z.strictObject({
  path: z
    .string()
    .regex(/^\/[\w/-]*[\w-]$/)
    .default("/console")
    .describe("where the page is"),
  traceUrl: z
    .url({ protocol: /^https?$/ })
    .refine((url) => url.includes("{traceId}"), "has no {traceId}")
    .optional()
    .describe("where traces are seen, as `https://jaeger.example.com/trace/{traceId}`: trace ids become links"),
});
export type Options = z.output<typeof Options>;
