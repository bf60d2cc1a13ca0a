import { z } from "zod";

export const Options = z.strictObject({
  path: z
    .string()
    .regex(/^\/[\w/-]*[\w-]$/)
    .default("/console")
    .describe("path of the page"),
  traceUrl: z
    .url({ protocol: /^https?$/ })
    .refine((url) => url.includes("{traceId}"), "has no {traceId}")
    .optional()
    .describe("URL of your trace viewer, such as `https://jaeger.example.com/trace/{traceId}`; makes trace ids links"),
});
export type Options = z.output<typeof Options>;
