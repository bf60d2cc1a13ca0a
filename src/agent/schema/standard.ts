import { z } from "zod";
import { VenturiError } from "../../core/errors/errors.ts";
import type { Schema, SchemaIssue } from "../../core/values/schema.ts";

export type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Checks a value; defaults and transforms of the schema are applied. `root` names the value in problems. */
export function parse(schema: Schema, value: unknown, root: string): Parsed {
  const result = schema["~standard"].validate(value);
  if (result instanceof Promise) {
    result.catch(() => {}); // its outcome does not matter any more
    throw asynchronous(schema);
  }
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, problems: result.issues.map((issue) => `${pathOf(issue) || root}: ${issue.message}`) };
}

const pathOf = ({ path = [] }: SchemaIssue): string =>
  path.map((part) => String(typeof part === "object" ? part.key : part)).join(".");

const known = new WeakMap<object, Readonly<Record<string, unknown>>>();

/** JSON Schema of what the schema takes, before defaults and transforms. Throws `config_invalid` when it has none. */
export function jsonSchemaOf(schema: Schema): Readonly<Record<string, unknown>> {
  let json = known.get(schema);
  if (json === undefined) {
    json = convert(schema);
    known.set(schema, json);
  }
  return json;
}

function convert(schema: Schema): Readonly<Record<string, unknown>> {
  const { vendor, jsonSchema } = schema["~standard"] as Partial<Schema["~standard"]>; // a plain JavaScript caller may bring anything
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

/** zod before 4.2 has no Standard JSON Schema, but its schemas can be converted by a newer one. */
function zodSchema(schema: Schema, vendor: string | undefined): Record<string, unknown> {
  if (vendor === "zod" && "_zod" in schema) {
    return z.toJSONSchema(schema as never, { io: "input" }) as Record<string, unknown>; // a zod 4 schema, by its marker
  }
  const advice =
    vendor === "valibot"
      ? "wrap it in toStandardJsonSchema from @valibot/to-json-schema"
      : "use one that speaks Standard JSON Schema (zod 4, arktype), or jsonSchema({ … })";
  throw new VenturiError(op, "config_invalid", `this ${vendor} schema gives no JSON Schema; ${advice}`);
}

/** Refuses schemas that check asynchronously as far as that shows without a value. */
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
