import { isRecord, type JsonRecord, list, record } from "../json.ts";
import type { PromptTool } from "../prompt.ts";
import { finderFor, type Source } from "./finders.ts";
import { topicsOf, wordsOf } from "./words.ts";

/** Derives a tool's arguments from the user's words, by its JSON Schema. */
export function fillArguments(tool: PromptTool, text: string): Record<string, unknown> {
  const commands = new Set([...topicsOf(tool.name)]);
  const source: Source = {
    text,
    commands,
    numbers: [...text.matchAll(/(?<![\p{L}\d-])-?\d+(?:\.\d+)?/gu)].map((m) => Number(m[0])),
  };
  const filled = fillObject(record(tool.parameters), source);
  return Object.keys(filled).length > 0 ? filled : mainArgument(record(tool.parameters), source);
}

const mainNames = new Set(["query", "text", "q", "term", "keyword", "keywords", "question", "contains", "prompt"]);

/** A tool without required parameters still needs its subject. */
function mainArgument(schema: JsonRecord, source: Source): Record<string, unknown> {
  const [name, property] = Object.entries(record(schema.properties)).find(([key]) => mainNames.has(key)) ?? [];
  if (name === undefined || typeOf(record(property)) !== "string") return {};
  return { [name]: required(name, record(property), source) };
}

/** A value for any schema, for structured output. */
export function fillValue(schema: JsonRecord, text: string): unknown {
  return required("", schema, { text, commands: new Set(), numbers: (text.match(/\d+(?:\.\d+)?/g) ?? []).map(Number) });
}

function fillObject(schema: JsonRecord, source: Source): Record<string, unknown> {
  const needed = new Set(list(schema.required));
  const filled: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(record(schema.properties))) {
    const property = record(value);
    const found = needed.has(name) ? required(name, property, source) : optional(name, property, source);
    if (found !== undefined) filled[name] = found;
  }
  return filled;
}

/** Only what is clearly named: an enum value, an unmistakable format, a number next to the name. */
function optional(name: string, schema: JsonRecord, source: Source): unknown {
  const choice = namedChoice(schema, source);
  if (choice !== undefined) return choice;
  const type = typeOf(schema);
  if (type === "number" || type === "integer") return numberBeside(name, source.text);
  return type === "string" ? finderFor(name, schema).find(source) : undefined;
}

function required(name: string, schema: JsonRecord, source: Source): unknown {
  if (schema.const !== undefined) return schema.const;
  const choices = list(schema.enum);
  if (choices.length > 0) return namedChoice(schema, source) ?? schema.default ?? choices[0];
  const [variant] = [...list(schema.anyOf), ...list(schema.oneOf)];
  if (variant !== undefined) return required(name, record(variant), source);
  switch (typeOf(schema)) {
    case "number":
    case "integer":
      return bounded(schema, numberBeside(name, source.text) ?? source.numbers.shift());
    case "boolean":
      return !/\b(not|don't|without|no|never)\b/i.test(source.text);
    case "array":
      return [required(name, record(schema.items), source)];
    case "object":
      return fillObject(schema, source);
    case "null":
      return null;
    default: {
      const finder = finderFor(name, schema);
      return finder.find(source) ?? schema.default ?? finder.otherwise(source);
    }
  }
}

function bounded(schema: JsonRecord, found: number | undefined): unknown {
  const { default: fallback, minimum } = schema;
  if (found === undefined) return fallback ?? (typeof minimum === "number" ? minimum : 1);
  return typeOf(schema) === "integer" ? Math.trunc(found) : found;
}

function namedChoice(schema: JsonRecord, source: Source): unknown {
  const words = new Set(wordsOf(source.text));
  return list(schema.enum).find(
    (choice) => typeof choice === "string" && wordsOf(choice).every((word) => words.has(word)),
  );
}

function numberBeside(name: string, text: string): number | undefined {
  const word = wordsOf(name).at(-1)?.replace(/s$/, "");
  if (word === undefined || word.length < 3) return undefined;
  const match = new RegExp(
    String.raw`(-?\d+(?:\.\d+)?)\s+${word}|${word}s?\s+(?:of\s+|to\s+)?(-?\d+(?:\.\d+)?)`,
    "i",
  ).exec(text);
  const digits = match?.[1] ?? match?.[2];
  return digits === undefined ? undefined : Number(digits);
}

/** Gemini writes types in upper case. */
function typeOf(schema: JsonRecord): string {
  const named = Array.isArray(schema.type) ? schema.type.find((type) => type !== "null") : schema.type;
  if (typeof named === "string") return named.toLowerCase();
  return isRecord(schema.properties) ? "object" : "string";
}
