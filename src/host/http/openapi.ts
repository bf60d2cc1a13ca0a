import type { FastifySchema } from "fastify";
import { z } from "zod";
import { complaintsOf } from "../../core/complaints.ts";
import { invalid } from "./error-reply.ts";

const places = ["body", "querystring", "params", "headers"] as const;

/** Routes have zod schemas; these provide Fastify's validation and the OpenAPI document. */
export const validatorCompiler = (route: { schema: unknown; url?: string; httpPart?: string }) => {
  const { schema: given, httpPart = "body" } = route;
  if (!(given instanceof z.ZodType)) throw new TypeError("a route's schema is a zod schema");
  // Vendor SDKs send parameters of their own; in our API an unknown one is an error.
  const strict = httpPart === "querystring" && given instanceof z.ZodObject && isNative(route.url ?? "");
  const schema: z.ZodType = strict ? given.strict() : given;
  return (data: unknown) => {
    const parsed = schema.safeParse(data);
    if (parsed.success) return { value: parsed.data };
    return {
      error: invalid(httpPart === "querystring" ? "query" : httpPart, complaintsOf(schema, data, parsed.error)),
    };
  };
};

const isNative = (url: string): boolean => url.startsWith("/v1/");

/** Routes of our API without query parameters reject any. */
export function refuseQuery(route: { url: string; schema?: FastifySchema }): void {
  if (isNative(route.url) && route.schema?.querystring === undefined) {
    route.schema = { ...route.schema, querystring: z.object({}) };
  }
}

export const serializerCompiler = () => (data: unknown) => JSON.stringify(data);

export function documentSchema({ schema, url }: { schema: FastifySchema; url: string }): {
  schema: FastifySchema;
  url: string;
} {
  const documented: Record<string, unknown> = { ...schema };
  for (const place of places) {
    if (documented[place] instanceof z.ZodType) documented[place] = jsonSchema(documented[place]);
  }
  const { response } = documented;
  if (typeof response === "object" && response !== null) {
    documented.response = Object.fromEntries(
      Object.entries(response).map(([status, body]) => [status, body instanceof z.ZodType ? jsonSchema(body) : body]),
    );
  }
  return { schema: documented, url };
}

function jsonSchema(schema: z.ZodType): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "inline" });
  return rest;
}
