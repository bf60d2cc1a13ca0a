import type { Schema } from "../core/values/schema.ts";

export type { Schema } from "../core/values/schema.ts";

// biome-ignore lint/suspicious/noExplicitAny: a constraint that every schema satisfies, whatever it takes and gives
export type AnySchema = Schema<any, any>;

type Types<S> = S extends { readonly "~standard": { readonly types?: infer T } } ? NonNullable<T> : never;

/** A schema's input type, before defaults and transforms. */
export type In<S> = Types<S> extends { readonly input: infer Input } ? Input : never;
/** A schema's output type. */
export type Out<S> = Types<S> extends { readonly output: infer Output } ? Output : never;

type Check = (
  schema: Readonly<Record<string, unknown>>,
  value: unknown,
) => readonly { path: string; message: string }[];
let check: Check | undefined;

/** A JSON Schema as a schema. The type is asserted by the caller; values are checked against the schema. */
export function jsonSchema<T = Record<string, unknown>>(schema: Readonly<Record<string, unknown>>): Schema<T> {
  const result = (problems: ReturnType<Check>, value: unknown) =>
    problems.length === 0
      ? { value: value as T } // The type is asserted by the caller.
      : { issues: problems.map(({ path, message }) => ({ message, path: path.split("/").slice(1) })) };
  const converter = () => ({ ...schema });
  return {
    "~standard": {
      version: 1,
      vendor: "venturi",
      validate: (value) =>
        check === undefined
          ? loadCheck().then((loaded) => result(loaded(schema, value), value))
          : result(check(schema, value), value),
      jsonSchema: { input: converter, output: converter },
    },
  };
}

/** The checker needs a package, so it is loaded with the first `openVenturi` or the first check. */
export async function loadCheck(): Promise<Check> {
  const { readSchema } = await import("../agent/schema/json-schema.ts");
  check ??= (schema, value) => readSchema(schema).problems(value);
  return check;
}
