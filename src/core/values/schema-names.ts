import { z } from "zod";

const names = new WeakMap<z.core.$ZodType, string>();

/** Names a schema: it becomes a component of the OpenAPI document and a type in generated clients. */
export function named<Schema extends z.ZodType>(name: string, schema: Schema): Schema {
  names.set(schema, name);
  return schema;
}

/** Descriptions, examples and names of schemas. Names are separate because zod's registry would apply them to every use. */
export class SchemaNames extends z.core.$ZodRegistry<z.core.GlobalMeta> {
  override get<Schema extends z.core.$ZodType>(schema: Schema) {
    const id = names.get(schema);
    return id === undefined ? z.globalRegistry.get(schema) : { ...z.globalRegistry.get(schema), id };
  }
}
