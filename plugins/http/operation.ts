import type { Effect } from "venturi/plugin";
import { z } from "zod";
import { fillText, fillUrl, fillValue, placeholdersIn, withQuery } from "./template.ts";

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
export type Method = (typeof methods)[number];

export const OperationOptions = z.strictObject({
  description: z.string().min(1),
  method: z.enum(methods).default("GET"),
  url: z
    .string()
    .regex(/^https?:\/\//, { error: "expected an http or https address" })
    .describe("{name} is replaced by a parameter"),
  parameters: z
    .record(z.string(), z.unknown())
    .default({})
    .describe("JSON Schemas of the parameters, by name; a parameter without a default is required unless optional"),
  optional: z.array(z.string()).default([]).describe("parameters that may be left out"),
  query: z.record(z.string(), z.string()).default({}),
  headers: z.record(z.string(), z.string()).default({}),
  body: z
    .unknown()
    .optional()
    .describe('JSON; "{name}" is replaced by a parameter. Default: the parameters used nowhere else'),
  effect: z.enum(["pure", "idempotent", "effectful"]).optional(),
});
export type OperationOptions = z.output<typeof OperationOptions>;

/** The request before the host rules are checked. */
export interface Prepared {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface Operation {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly effect: Effect;
  readonly method: Method;
  /** The URL with its placeholders, for the host list. */
  readonly address: string;
  prepare(input: Readonly<Record<string, unknown>>): Prepared;
}

export const effectOf = (method: Method): Effect => (method === "GET" || method === "HEAD" ? "pure" : "effectful");

export function fromConfig(name: string, options: OperationOptions): Operation {
  const { method, url, query, headers, body } = options;
  const used = new Set(placeholdersIn([url, query, headers, body]));
  return {
    name,
    description: options.description,
    parameters: schemaOf(options),
    effect: options.effect ?? effectOf(method),
    method,
    address: url,
    prepare(input) {
      const rest = Object.entries(input).filter(([key, value]) => !used.has(key) && value !== undefined);
      const hasBody = method !== "GET" && method !== "HEAD" && method !== "DELETE";
      const fixed = Object.entries(query).map(([key, value]) => [key, fillValue(value, input)]);
      const asked = { ...Object.fromEntries(fixed), ...(hasBody ? {} : Object.fromEntries(rest)) };
      const sent = body === undefined ? Object.fromEntries(rest) : fillValue(body, input);
      return {
        url: withQuery(fillUrl(url, input), asked),
        headers: Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, fillText(value, input)])),
        ...(hasBody ? { body: sent } : {}),
      };
    },
  };
}

function schemaOf({ parameters, optional }: OperationOptions): Record<string, unknown> {
  const needed = Object.entries(parameters).filter(([name, schema]) => !optional.includes(name) && !hasDefault(schema));
  return {
    type: "object",
    properties: parameters,
    required: needed.map(([name]) => name),
    additionalProperties: false,
  };
}

const hasDefault = (schema: unknown): boolean => typeof schema === "object" && schema !== null && "default" in schema;
