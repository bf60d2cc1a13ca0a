import { egressOptions } from "venturi/internal";
import { Size, toolOptions } from "venturi/plugin";
import { z } from "zod";
import { OperationOptions } from "./operation.ts";

export const HttpToolOptions = z.strictObject({
  ...toolOptions,
  operations: z.record(z.string().regex(/^[A-Za-z0-9_-]{1,48}$/), OperationOptions).default({}),
  openapi: z
    .strictObject({
      file: z.string().describe("OpenAPI 3 document, JSON or YAML; relative to the config's folder"),
      operations: z.array(z.string()).min(1).describe("operationIds to offer"),
      server: z.url().optional().describe("replaces the document's own server"),
      effects: z.record(z.string(), z.enum(["pure", "idempotent", "effectful"])).default({}),
    })
    .optional(),
  headers: z.record(z.string(), z.string()).default({}).describe("sent with every request; never shown"),
  ...egressOptions,
  maxResponse: Size.default(1_048_576),
  maxRedirects: z
    .number()
    .int()
    .min(0)
    .max(10)
    .default(3)
    .describe("redirects followed for GET and HEAD, within the hosts"),
  idempotencyHeader: z.string().default("Idempotency-Key"),
});
export type HttpToolOptions = z.output<typeof HttpToolOptions>;
