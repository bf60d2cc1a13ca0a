import { inputSchema, type JsonSchema } from "../../core/errors/complaints.ts";
import type { AnyPlugin, PluginKind } from "../../core/ports/plugin.ts";
import type { PluginLoader } from "../plugins/plugin-loader.ts";
import { entryKeys, Settings } from "./schema.ts";

/** The JSON Schema for editors: built-in keys and the options of every plugin the loader has. */
export async function configSchema(loader: PluginLoader): Promise<JsonSchema> {
  const plugins = await Promise.all(loader.names().map(async (name) => (await loader.get(name)).plugin));
  const of = (kind: PluginKind) => plugins.filter((plugin) => plugin.kind === kind);
  const schema = inputSchema(Settings);
  const properties = schema.properties ?? {};
  replaceEntries(properties.providers, of("provider").map(entrySchema));
  replaceEntries(properties.tools, of("tool").map(entrySchema));
  replaceEntries(properties.guards, of("guard").map(entrySchema));
  replaceEntries(properties.memories, of("memory").map(entrySchema));
  replaceChannels(properties.channels, of("channel"));
  properties.journal = { ...described(properties.journal), anyOf: of("journal").map(entrySchema) };
  const time = plugins.find(({ name }) => name === "channel-time");
  for (const [key, own] of Object.entries(time === undefined ? {} : (inputSchema(time.options).properties ?? {}))) {
    properties[key] = { ...own, ...described(properties[key]) };
  }
  const { $schema, ...rest } = allowReferences(schema) as JsonSchema; // A schema maps to a schema.
  const reference = { type: "string", pattern: "\\$\\{(env|file):", description: "A variable or a file." };
  return { $schema, title: "Venturi configuration", ...rest, $defs: { reference } };
}

/** Schema of one config entry: the keys of its kind and the options of its plugin. */
export function entrySchema(plugin: AnyPlugin): JsonSchema {
  const common = inputSchema(entryKeys[plugin.kind]).properties ?? {};
  const { $schema: _, ...own } = inputSchema(plugin.options);
  const alternatives = own.anyOf ?? own.oneOf;
  if (alternatives !== undefined) return { anyOf: alternatives.map((each) => merged(plugin, common, each)) };
  return merged(plugin, common, own);
}

function merged(plugin: AnyPlugin, common: Record<string, JsonSchema>, own: JsonSchema): JsonSchema {
  const type = { const: plugin.name, description: plugin.description ?? `The ${plugin.kind} "${plugin.name}".` };
  return {
    ...own,
    type: "object",
    properties: { ...common, ...explained(own.properties ?? {}, common), type },
    required: ["type", ...((own.required as string[] | undefined) ?? [])],
  };
}

/** Where a plugin declares a key of its kind without a description, use the kind's description. */
function explained(own: Record<string, JsonSchema>, common: Record<string, JsonSchema>): Record<string, JsonSchema> {
  const entries = Object.entries(own);
  return Object.fromEntries(entries.map(([key, each]) => [key, each.description ? each : { ...common[key], ...each }]));
}

function replaceEntries(section: JsonSchema | undefined, entries: JsonSchema[]): void {
  if (section !== undefined) section.additionalProperties = { anyOf: entries };
}

/** A channel's key implies its plugin, so `type` is optional. */
function replaceChannels(section: JsonSchema | undefined, plugins: readonly AnyPlugin[]): void {
  if (section === undefined) return;
  const named = plugins.map((plugin): [string, JsonSchema] => {
    const { required, ...entry } = entrySchema(plugin);
    const needed = (required as string[]).filter((key) => key !== "type");
    return [plugin.name.replace(/^channel-/, ""), needed.length > 0 ? { ...entry, required: needed } : entry];
  });
  section.properties = Object.fromEntries(named);
  section.additionalProperties = { anyOf: plugins.map(entrySchema) };
}

const described = (schema: JsonSchema | undefined): JsonSchema => {
  const { description, default: value } = schema ?? {};
  return { description, ...(value === undefined ? {} : { default: value }) };
};

/** Any value that is not free text may also be written as a `${…}` reference, which is text. */
function allowReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(allowReferences);
  if (typeof value !== "object" || value === null) return value;
  const schema = value as JsonSchema; // The walk below passes only schemas.
  if (isNarrowScalar(schema)) {
    const { description, default: fallback, ...narrow } = schema;
    return {
      ...(description === undefined ? {} : { description }),
      ...(fallback === undefined ? {} : { default: fallback }),
      anyOf: [narrow, { $ref: "#/$defs/reference" }],
    };
  }
  const walked = Object.entries(schema).map(([key, inner]) => [key, walkKey(key, inner)]);
  return Object.fromEntries(walked);
}

function walkKey(key: string, inner: unknown): unknown {
  if (key === "properties") {
    return Object.fromEntries(Object.entries(inner as object).map(([name, each]) => [name, allowReferences(each)]));
  }
  const holdsSchemas = ["additionalProperties", "items", "anyOf", "oneOf", "allOf"].includes(key);
  return holdsSchemas ? allowReferences(inner) : inner;
}

function isNarrowScalar(schema: JsonSchema): boolean {
  if (schema.const !== undefined) return false;
  if (["number", "integer", "boolean"].includes(String(schema.type))) return true;
  const narrows = ["enum", "pattern", "format", "minLength"].some((key) => schema[key] !== undefined);
  return schema.type === "string" && narrows;
}
