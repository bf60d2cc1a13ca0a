// Types of the service's API as clients see it, from the very document that a service answers with: TypeScript declarations and
// the Python models.
import { readFileSync } from "node:fs";
import channelHttp from "../dist/plugins/channel-http/index.js";
import { serve } from "../dist/test/service.js";
import { pythonModels } from "./python-models.mjs";

export async function serviceTypes() {
  const { components, paths } = await documentOfService();
  const schemas = { ...components.schemas, ...queriesOf(paths) };
  const events = reachable(schemas, ["RunEvent", "FeedItem"]);
  const named = readFileSync(new URL("../src/client/events.ts", import.meta.url), "utf8");
  const missing = events.filter((name) => !new RegExp(`\\b${name}\\b`).test(named));
  if (missing.length > 0) throw new Error(`src/client/events.ts does not export ${missing.join(", ")}`);
  const rest = Object.keys(schemas).filter((name) => !events.includes(name));
  return { declarations: declarations(schemas, rest, events), models: pythonModels(components.schemas) };
}

/** A service without runs: its document does not depend on them. */
async function documentOfService() {
  const service = await serve({ scripts: {}, channels: [{ plugin: channelHttp }] });
  try {
    return await (await fetch(`${service.url}/openapi.json`)).json();
  } finally {
    await service.close();
  }
}

const queries = {
  RunsQuery: "/v1/runs",
  SessionsQuery: "/v1/sessions",
  TurnsQuery: "/v1/sessions/{session}",
  ApprovalsQuery: "/v1/approvals",
};

/** The query parameters of lists, as a schema each. */
function queriesOf(paths) {
  const schemaOf = (path) => {
    const parameters = paths[path].get.parameters.filter((parameter) => parameter.in === "query");
    const properties = parameters.map(({ name, schema, description }) => [name, { ...schema, description }]);
    return { type: "object", properties: Object.fromEntries(properties) };
  };
  return Object.fromEntries(Object.entries(queries).map(([name, path]) => [name, schemaOf(path)]));
}

function reachable(schemas, roots) {
  const found = new Set();
  const visit = (name) => {
    if (found.has(name)) return;
    found.add(name);
    for (const next of referencesIn(schemas[name])) visit(next);
  };
  roots.forEach(visit);
  return [...found].sort();
}

const referencesIn = (schema) =>
  [...JSON.stringify(schema).matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name);

function declarations(schemas, names, others) {
  const used = new Set(names.flatMap((name) => referencesIn(schemas[name])));
  const imported = others.filter((name) => used.has(name));
  const head = "// Generated from the service's OpenAPI document by `npm run generate`. Do not edit.\n";
  const imports = `import type { ${imported.join(", ")} } from "./events.ts";\n`;
  return `${head}${imports}\n${names.map((name) => declaration(name, extended(name, schemas))).join("\n")}`;
}

/** A schema that has all of another named one is that one and the rest. */
function extended(name, schemas) {
  const schema = schemas[name];
  const own = Object.entries(schema.properties ?? {});
  const isSame = (other, [key, each]) =>
    JSON.stringify(other.properties[key]) === JSON.stringify(each) &&
    (other.required ?? []).includes(key) === (schema.required ?? []).includes(key);
  const base = Object.keys(schemas).find((each) => {
    const keys = Object.keys(schemas[each].properties ?? {});
    return (
      each !== name &&
      keys.length > 8 &&
      own.length > keys.length &&
      keys.every((key) => isSame(schemas[each], [key, schema.properties[key]]))
    );
  });
  if (base === undefined) return schema;
  const rest = own.filter(([key]) => schemas[base].properties[key] === undefined);
  return { allOf: [{ $ref: base }, { ...schema, properties: Object.fromEntries(rest) }] };
}

/** Aliases rather than interfaces: only these fit where a record of their values is expected. */
function declaration(name, schema) {
  const comment = schema.description === undefined ? "" : `/** ${schema.description} */\n`;
  return `${comment}export type ${name} = ${typeOf(schema)};\n`;
}

function typeOf(schema, indent = "") {
  if (schema === true || Object.keys(schema).length === 0) return "unknown";
  if (schema.$ref !== undefined) return schema.$ref.split("/").at(-1);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const union = schema.anyOf ?? schema.oneOf;
  if (union !== undefined) return [...new Set(union.map((option) => typeOf(option, indent)))].join(" | ");
  if (schema.allOf !== undefined) return schema.allOf.map((option) => typeOf(option, indent)).join(" & ");
  switch (schema.type) {
    case "string":
    case "boolean":
    case "null":
      return schema.type;
    case "number":
    case "integer":
      return "number";
    case "array":
      return `Array<${typeOf(schema.items ?? {}, indent)}>`;
    case "object":
      return objectOf(schema, indent);
    default:
      return "unknown";
  }
}

function objectOf({ properties, required = [], additionalProperties }, indent) {
  const open = additionalProperties !== undefined && additionalProperties !== false;
  if (properties === undefined) return `Record<string, ${open ? typeOf(additionalProperties, indent) : "unknown"}>`;
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(([key, schema]) => {
    const comment = schema.description === undefined ? "" : `${inner}/** ${schema.description} */\n`;
    return `${comment}${inner}${key}${required.includes(key) ? "" : "?"}: ${typeOf(schema, inner)};`;
  });
  // An index signature has to fit every named key as well.
  if (open) lines.push(`${inner}[key: string]: unknown;`);
  return `{\n${lines.join("\n")}\n${indent}}`;
}
