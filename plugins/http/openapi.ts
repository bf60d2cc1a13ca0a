import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Effect, messageOf, VenturiError } from "venturi/plugin";
import { z } from "zod";
import { effectOf, type Method, type Operation } from "./operation.ts";
import { deref, named } from "./references.ts";
import { fillUrl, withQuery } from "./template.ts";

export interface OpenApiSource {
  readonly file: string;
  readonly operations: readonly string[];
  readonly server?: string | undefined;
  readonly effects: Readonly<Record<string, Effect>>;
}

const Parameter = z.object({
  name: z.string(),
  in: z.enum(["path", "query", "header", "cookie"]),
  required: z.boolean().default(false),
  description: z.string().optional(),
  schema: z.record(z.string(), z.unknown()).default({}),
});
type Parameter = z.output<typeof Parameter>;

const Described = z.object({
  operationId: z.string().optional(),
  summary: z.string().optional(),
  description: z.string().optional(),
  parameters: z.array(Parameter).default([]),
  requestBody: z
    .object({
      required: z.boolean().default(false),
      content: z.record(z.string(), z.object({ schema: z.record(z.string(), z.unknown()).default({}) })),
    })
    .optional(),
});
type Described = z.output<typeof Described>;

const methods: readonly Method[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** The selected operations of an OpenAPI 3 document. */
export async function readOpenApi(source: OpenApiSource, folder: string): Promise<Operation[]> {
  const document = await readDocument(resolve(folder, source.file));
  const server = serverOf(document, source);
  const found = new Map<string, Operation>();
  for (const [path, item] of Object.entries(recordOf(document.paths))) {
    const entry = recordOf(named(document, item));
    for (const method of methods) {
      const raw = entry[method.toLowerCase()];
      if (raw === undefined) continue;
      const id = recordOf(raw).operationId;
      if (typeof id !== "string" || !source.operations.includes(id)) continue;
      const whole = {
        ...recordOf(raw),
        parameters: [...listOf(entry.parameters), ...listOf(recordOf(raw).parameters)],
      };
      const described = Described.safeParse(deref(document, whole));
      if (!described.success) throw invalid(`${source.file}: ${id}: ${z.prettifyError(described.error)}`);
      found.set(id, toOperation(described.data, { id, method, address: server + path, effect: source.effects[id] }));
    }
  }
  return source.operations.map((id) => found.get(id) ?? missing(source.file, id, document));
}

interface Place {
  readonly id: string;
  readonly method: Method;
  readonly address: string;
  readonly effect: Effect | undefined;
}

function toOperation(described: Described, { id, method, address, effect }: Place): Operation {
  const parameters = overridden(described.parameters).filter((parameter) => parameter.in !== "cookie");
  const json = Object.entries(described.requestBody?.content ?? {}).find(([type]) => /[/+]json$/.test(type))?.[1];
  return {
    name: id,
    description: described.description ?? described.summary ?? `${method} ${new URL(address).pathname}`,
    parameters: schemaOf(parameters, { schema: json?.schema, required: described.requestBody?.required === true }),
    effect: effect ?? effectOf(method),
    method,
    address,
    prepare(input) {
      const inPlace = (place: Parameter["in"]) =>
        parameters.filter((parameter) => parameter.in === place && input[parameter.name] !== undefined);
      const valuesIn = (place: Parameter["in"]) =>
        Object.fromEntries(inPlace(place).map(({ name }) => [name, input[name]]));
      const headers = Object.entries(valuesIn("header")).map(([name, value]) => [name, String(value)]);
      return {
        url: withQuery(fillUrl(address, valuesIn("path")), valuesIn("query")),
        headers: Object.fromEntries(headers),
        ...(input.body === undefined ? {} : { body: input.body }),
      };
    },
  };
}

/** An operation's parameter replaces its path's of the same name and place. */
const overridden = (parameters: readonly Parameter[]): Parameter[] => [
  ...new Map(parameters.map((parameter) => [`${parameter.in} ${parameter.name}`, parameter])).values(),
];

interface Body {
  readonly schema: Record<string, unknown> | undefined;
  readonly required: boolean;
}

function schemaOf(parameters: readonly Parameter[], body: Body) {
  const properties: Record<string, unknown> = {};
  for (const { name, description, schema } of parameters) {
    properties[name] = description === undefined ? schema : { description, ...schema };
  }
  const needed = parameters.filter((parameter) => parameter.required || parameter.in === "path");
  const required = new Set(needed.map(({ name }) => name)); // Two places may share a name.
  if (body.schema !== undefined) properties.body = body.schema;
  if (body.schema !== undefined && body.required) required.add("body");
  return { type: "object", properties, required: [...required], additionalProperties: false };
}

function serverOf(document: Record<string, unknown>, source: OpenApiSource): string {
  const [first] = listOf(document.servers);
  const url = source.server ?? recordOf(first).url;
  if (typeof url !== "string" || !/^https?:\/\/[^{}]*$/.test(url)) {
    throw invalid(`${source.file} names no full server address; give one as openapi.server`);
  }
  return url.replace(/\/$/, "");
}

async function readDocument(file: string): Promise<Record<string, unknown>> {
  const { parse } = await import("yaml");
  try {
    const document = recordOf(parse(await readFile(file, "utf8"), { uniqueKeys: false })); // JSON is a subset of YAML.
    if (typeof document.openapi !== "string" || !document.openapi.startsWith("3."))
      throw new Error("it is not an OpenAPI 3 document");
    return document;
  } catch (thrown) {
    throw invalid(`${file} cannot be read: ${messageOf(thrown)}`);
  }
}

function missing(file: string, id: string, document: Record<string, unknown>): never {
  const ids = Object.values(recordOf(document.paths)).flatMap((item) =>
    Object.values(recordOf(item)).map((operation) => recordOf(operation).operationId),
  );
  throw invalid(`${file} has no operation "${id}"; it has ${ids.filter((one) => typeof one === "string").join(", ")}`);
}

const recordOf = (value: unknown): Record<string, unknown> =>
  // The document is untrusted.
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const invalid = (message: string) => new VenturiError("tool.create", "config_invalid", message);
