import type { FastifySchema } from "fastify";
import { z } from "zod";
import { invalid } from "./error-reply.ts";

const places = ["body", "querystring", "params", "headers"] as const;

/** Routes carry zod schemas; these turn them into Fastify's validation and into the OpenAPI document. */
export const validatorCompiler = ({ schema }: { schema: unknown }) => {
  if (!(schema instanceof z.ZodType)) throw new TypeError("a route's schema is a zod schema");
  return (data: unknown) => {
    const parsed = schema.safeParse(data);
    return parsed.success ? { value: parsed.data } : { error: invalid(parsed.error) };
  };
};

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
