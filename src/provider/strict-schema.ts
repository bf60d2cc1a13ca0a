import { asList, asRecord } from "./fast-json/wire-json.ts";

/**
 * Whether OpenAI's `strict` mode accepts a JSON Schema: every object closed and every property required. Otherwise it rejects
 * the whole request, so other schemas are sent without it.
 */
export function isStrictSchema(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrictSchema);
  const { properties, required, additionalProperties, ...rest } = asRecord(schema);
  if (properties !== undefined || rest.type === "object") {
    const needed = new Set(asList(required));
    if (additionalProperties !== false) return false;
    if (!Object.keys(asRecord(properties)).every((name) => needed.has(name))) return false;
  }
  return [...Object.values(asRecord(properties)), ...Object.values(rest)].every(isStrictSchema);
}
