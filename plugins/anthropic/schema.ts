import { asList, asRecord } from "venturi/plugin/provider";

type Schema = Readonly<Record<string, unknown>>;

/** String formats supported by Anthropic's structured output. */
const formats: ReadonlySet<unknown> = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "uri",
  "ipv4",
  "ipv6",
  "uuid",
]);

const kept: ReadonlySet<string> = new Set(["$ref", "type", "enum", "const", "title", "required"]);
const lists: ReadonlySet<string> = new Set(["anyOf", "allOf", "oneOf"]);
const maps: ReadonlySet<string> = new Set(["properties", "$defs", "definitions"]);

/**
 * Adapts a JSON Schema to structured output: closes objects, and moves unsupported constraints (`minimum`, `pattern`, …) into
 * the description. The answer is validated against the full schema afterwards.
 */
export function outputSchema(schema: Schema): Schema {
  const out: [string, unknown][] = [];
  const described: string[] = [];
  for (const [key, value] of Object.entries(schema)) {
    if (kept.has(key)) out.push([key, value]);
    else if (lists.has(key))
      out.push([key === "oneOf" ? "anyOf" : key, asList(value).map((one) => outputSchema(asRecord(one)))]);
    else if (maps.has(key)) out.push([key, schemasIn(value)]);
    else if (key === "items") out.push([key, outputSchema(asRecord(value))]);
    else if (key === "format" ? formats.has(value) : key === "minItems" && (value === 0 || value === 1))
      out.push([key, value]);
    else if (!unsupported.has(key)) described.push(`${key}: ${JSON.stringify(value)}`);
  }
  if (isObject(schema)) out.push(["additionalProperties", false]);
  const description = [schema.description, described.join(", ")].filter(
    (text) => typeof text === "string" && text !== "",
  );
  if (description.length > 0) out.push(["description", description.join("\n")]);
  return Object.fromEntries(out);
}

/** Expressed elsewhere, or irrelevant to a model. */
const unsupported: ReadonlySet<string> = new Set(["description", "additionalProperties", "$schema", "$id", "$comment"]);

const schemasIn = (value: unknown): Schema =>
  Object.fromEntries(Object.entries(asRecord(value)).map(([name, schema]) => [name, outputSchema(asRecord(schema))]));

const isObject = (schema: Schema): boolean =>
  schema.properties !== undefined || schema.type === "object" || asList(schema.type).includes("object");
