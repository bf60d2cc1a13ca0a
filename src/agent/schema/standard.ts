import { z } from "zod";
import { VenturiError } from "../../core/errors/errors.ts";
import type { Schema, SchemaIssue } from "../../core/values/schema.ts";

export type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Validates a value, applying the schema's defaults and transforms. `root` names the value in problems. */
export function parse(schema: Schema, value: unknown, root: string): Parsed {
  const result = schema["~standard"].validate(value);
  if (result instanceof Promise) {
    result.catch(() => {}); // Avoids an unhandledRejection; the result is not used.
    throw asynchronous(schema);
  }
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, problems: result.issues.map((issue) => `${pathOf(issue) || root}: ${issue.message}`) };
}

const pathOf = ({ path = [] }: SchemaIssue): string =>
  path.map((segment) => String(typeof segment === "object" ? segment.key : segment)).join(".");

const known = new WeakMap<object, Readonly<Record<string, unknown>>>();

/** JSON Schema of the accepted input, before defaults and transforms. Throws `config_invalid` when there is none. */
export function jsonSchemaOf(schema: Schema): Readonly<Record<string, unknown>> {
  let json = known.get(schema);
  if (json === undefined) {
    json = convert(schema);
    known.set(schema, json);
  }
  return json;
}

function convert(schema: Schema): Readonly<Record<string, unknown>> {
  const { vendor, jsonSchema } = schema["~standard"] as Partial<Schema["~standard"]>; // Callers without types may pass anything.
  try {
    const { $schema: _, ...json } =
      jsonSchema === undefined ? zodSchema(schema, vendor) : jsonSchema.input({ target: "draft-2020-12" });
    return json;
  } catch (cause) {
    if (VenturiError.isInstance(cause)) throw cause;
    const message = `the ${vendor} schema has no JSON Schema, which models need: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw new VenturiError(op, "config_invalid", message, { cause });
  }
}

/** zod before 4.2 does not implement Standard JSON Schema, but a newer zod can convert its schemas. */
function zodSchema(schema: Schema, vendor: string | undefined): Record<string, unknown> {
  if (vendor === "zod" && "_zod" in schema) {
    return z.toJSONSchema(schema as never, { io: "input" }) as Record<string, unknown>; // Recognised as a zod 4 schema by its marker.
  }
  const advice =
    vendor === "valibot"
      ? "wrap it in toStandardJsonSchema from @valibot/to-json-schema"
      : "use one that speaks Standard JSON Schema (zod 4, arktype), or jsonSchema({ … })";
  throw new VenturiError(op, "config_invalid", `this ${vendor} schema gives no JSON Schema; ${advice}`);
}

/** Rejects asynchronous schemas, as far as that is visible without a value. */
export function checkUsable(schema: Schema): void {
  jsonSchemaOf(schema);
  for (const value of [{}, undefined]) {
    const result = schema["~standard"].validate(value);
    if (!(result instanceof Promise)) continue;
    result.catch(() => {});
    throw asynchronous(schema);
  }
}

const op = "schema.read";

const asynchronous = (schema: Schema): VenturiError =>
  new VenturiError(
    op,
    "config_invalid",
    `this ${schema["~standard"].vendor} schema checks asynchronously; arguments are checked while the model streams, so check such things in the tool`,
  );
