import { inputSchema, type JsonSchema } from "../../core/errors/complaints.ts";
import type { Place } from "../yaml/problem.ts";
import type { MapNode, Node } from "../yaml/tree.ts";
import type { PluginEntry } from "./entries.ts";
import { entrySchema } from "./json-schema.ts";
import type { Config } from "./load.ts";
import { Settings } from "./schema.ts";

const fallback: Place = { file: "default", line: 0, column: 0 };

/** The config tree with every default filled in, as if written by hand. */
export function withDefaults(config: Config): MapNode {
  const schema = inputSchema(Settings);
  const properties = { ...schema.properties };
  for (const section of ["providers", "tools", "channels"] as const) {
    properties[section] = { type: "object", properties: entrySchemas(config[section]) };
  }
  properties.journal = entrySchema(config.journal.loaded.plugin);
  return fillMap(config.tree, { ...schema, properties });
}

const entrySchemas = (entries: Readonly<Record<string, PluginEntry>>): Record<string, JsonSchema> =>
  Object.fromEntries(Object.entries(entries).map(([name, { loaded }]) => [name, entrySchema(loaded.plugin)]));

function fill(node: Node, schema: JsonSchema): Node {
  if (node.kind === "map") return fillMap(node, objectOf(schema));
  if (node.kind === "list" && schema.items !== undefined) {
    const items = schema.items;
    return { ...node, items: node.items.map((item) => fill(item, items)) };
  }
  return node;
}

function fillMap(map: MapNode, schema: JsonSchema): MapNode {
  const entries = new Map(map.entries);
  const others = typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
  for (const [key, entry] of map.entries) {
    const inner = schema.properties?.[key] ?? others;
    if (inner !== undefined) entries.set(key, { ...entry, node: fill(entry.node, inner) });
  }
  for (const [key, inner] of Object.entries(schema.properties ?? {})) {
    if (entries.has(key) || inner.default === undefined) continue;
    entries.set(key, { key: fallback, node: fill(nodeOf(inner.default), inner) });
  }
  return { ...map, entries };
}

/** Of several alternatives, the one with object keys. */
const objectOf = (schema: JsonSchema): JsonSchema =>
  [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].find(({ properties }) => properties !== undefined) ??
  schema;

function nodeOf(value: unknown): Node {
  if (Array.isArray(value)) return { kind: "list", place: fallback, items: value.map(nodeOf) };
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([key, inner]) => [key, { key: fallback, node: nodeOf(inner) }] as const);
    return { kind: "map", place: fallback, entries: new Map(entries) };
  }
  return { kind: "scalar", place: fallback, value: value as string | number | boolean | null }; // JSON has no other scalars.
}
