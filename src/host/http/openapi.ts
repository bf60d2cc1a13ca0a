import type { FastifySchema } from "fastify";
import { z } from "zod";
import { complaintsOf } from "../../core/errors/complaints.ts";
import { SchemaNames } from "../../core/values/schema-names.ts";
import { invalid } from "./error-reply.ts";

const places = ["body", "querystring", "params", "headers"] as const;

/** Routes have zod schemas; these provide Fastify's validation and the OpenAPI document. */
export const validatorCompiler = (route: { schema: unknown; url?: string; httpPart?: string }) => {
  const { schema: given, httpPart = "body" } = route;
  if (!(given instanceof z.ZodType)) throw new TypeError("a route's schema is a zod schema");
  // Vendor SDKs send extra parameters, so only our own API rejects unknown ones.
  const strict = httpPart === "querystring" && given instanceof z.ZodObject && isNative(route.url ?? "");
  // A schema with a catchall checks additional names itself.
  const schema: z.ZodType = strict && given.def.catchall === undefined ? given.strict() : given;
  return (data: unknown) => {
    const parsed = schema.safeParse(data);
    if (parsed.success) return { value: parsed.data };
    return {
      error: invalid(httpPart === "querystring" ? "query" : httpPart, complaintsOf(schema, data, parsed.error)),
    };
  };
};

const isNative = (url: string): boolean => url.startsWith("/v1/");

/** Makes routes of our API without query parameters reject any. */
export function refuseQuery(route: { url: string; schema?: FastifySchema }): void {
  if (isNative(route.url) && route.schema?.querystring === undefined) {
    route.schema = { ...route.schema, querystring: z.object({}) };
  }
}

export const serializerCompiler = () => (data: unknown) => JSON.stringify(data);

/** Components of an OpenAPI document. */
interface Document {
  readonly components?: { readonly schemas?: object };
}

/** The OpenAPI document of one server. Named schemas, which zod puts under each schema's own `$defs`, become its components. */
export class OpenApi {
  readonly #named = new Map<string, unknown>();

  route({ schema, url }: { schema: FastifySchema; url: string }): { schema: FastifySchema; url: string } {
    const documented: Record<string, unknown> = { ...schema };
    for (const place of places) {
      if (documented[place] instanceof z.ZodType) documented[place] = this.#json(documented[place]);
    }
    const { response } = documented;
    if (typeof response === "object" && response !== null) {
      documented.response = Object.fromEntries(
        Object.entries(response).map(([status, answer]) => [status, this.#answer(answer)]),
      );
    }
    return { schema: documented, url };
  }

  document<Given extends Document>(document: Given): Given {
    const sorted = [...this.#named].sort(([left], [right]) => (left < right ? -1 : 1));
    const schemas = { ...document.components?.schemas, ...Object.fromEntries(sorted) };
    return { ...document, components: { ...document.components, schemas } };
  }

  /** One schema, or one per media type under `content`. */
  #answer(answer: unknown): unknown {
    if (answer instanceof z.ZodType) return this.#json(answer);
    if (typeof answer !== "object" || answer === null || !("content" in answer)) return answer;
    const media = Object.entries(answer.content as Record<string, { schema: z.ZodType }>); // The shape that Fastify expects.
    const content = media.map(([type, { schema, ...rest }]) => [type, { ...rest, schema: this.#json(schema) }]);
    return { ...answer, content: Object.fromEntries(content) };
  }

  #json(schema: z.ZodType): Record<string, unknown> {
    const given = z.toJSONSchema(schema, {
      io: "input",
      unrepresentable: "any",
      reused: "inline",
      metadata: new SchemaNames(),
    });
    const { $schema, $defs = {}, $ref, ...rest } = moved(given) as typeof given; // The same shape.
    for (const [name, definition] of Object.entries($defs)) this.#named.set(name, definition);
    if ($ref === undefined) return rest;
    // The document builder drops everything next to a `$ref`.
    return Object.keys(rest).length === 0 ? { $ref } : { allOf: [{ $ref }], ...rest };
  }
}

/** The value with its references pointing to the document's components. */
function moved(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(moved);
  if (typeof value === "string") return value.replace(/^#\/\$defs\//, "#/components/schemas/");
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, moved(child)]));
}
