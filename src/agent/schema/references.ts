import { VenturiError } from "../../core/errors/errors.ts";
import { atPointer } from "../../core/values/json-pointer.ts";
import { isRecord } from "./scalars.ts";

const single = ["additionalItems", "additionalProperties", "contains", "else", "if", "not", "propertyNames", "then"];
const lists = ["allOf", "anyOf", "oneOf", "prefixItems"];
const maps = ["$defs", "definitions", "dependentSchemas", "dependencies", "patternProperties", "properties"];

/** The direct subschemas of a schema. */
export function innerSchemas(schema: Readonly<Record<string, unknown>>): unknown[] {
  const inner: unknown[] = single.map((keyword) => schema[keyword]);
  for (const keyword of [...lists, "items"]) {
    const value = schema[keyword];
    if (Array.isArray(value)) inner.push(...value);
    else if (keyword === "items") inner.push(value);
  }
  for (const keyword of maps) {
    const value = schema[keyword];
    if (isRecord(value)) inner.push(...Object.values(value));
  }
  return inner.filter(isRecord);
}

const nowhere = "schema://this/";

/** Resolves the `$ref`s of a document: pointers, anchors and ids within it. Never fetches anything. */
export class References {
  readonly #root: Readonly<Record<string, unknown>>;
  readonly #resources = new Map<string, Readonly<Record<string, unknown>>>();
  readonly #anchors = new Map<string, Readonly<Record<string, unknown>>>();
  /** Up to draft 7, keywords beside a `$ref` are ignored. */
  readonly #siblingsIgnored: boolean;
  readonly #bases = new Map<object, string>();

  constructor(root: Readonly<Record<string, unknown>>) {
    this.#root = root;
    this.#siblingsIgnored = /draft-0[4-7]/.test(String(root.$schema ?? ""));
    this.#resources.set(nowhere, root);
    const waiting: { schema: Readonly<Record<string, unknown>>; base: string }[] = [{ schema: root, base: nowhere }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (this.#bases.has(next.schema)) continue;
      const base = this.#enter(next.schema, next.base);
      for (const inner of innerSchemas(next.schema)) waiting.push({ schema: inner as Record<string, unknown>, base }); // Only objects are left after the filter.
    }
  }

  resolve(reference: string, from: object): unknown {
    const url = this.#join(reference, this.#bases.get(from) ?? nowhere);
    const [address = "", fragment = ""] = url === undefined ? [] : url.split("#", 2);
    const resource = this.#resources.get(address);
    if (resource === undefined) throw broken(reference);
    const found =
      fragment === ""
        ? resource
        : fragment.startsWith("/")
          ? atPointer(resource, fragment)
          : this.#anchors.get(url ?? "");
    if (found === undefined) throw broken(reference);
    return found;
  }

  #enter(schema: Readonly<Record<string, unknown>>, outer: string): string {
    const hidden = typeof schema.$ref === "string" && this.#siblingsIgnored;
    const id = typeof schema.$id === "string" && !hidden ? schema.$id : undefined;
    const own = id === undefined ? outer : (this.#join(id, outer) ?? outer);
    const [address = outer, anchor] = own.split("#", 2);
    if (anchor) this.#anchors.set(own, schema);
    else if (id !== undefined) this.#resources.set(address, schema);
    if (typeof schema.$anchor === "string") this.#anchors.set(`${address}#${schema.$anchor}`, schema);
    this.#bases.set(schema, schema === this.#root && id === undefined ? nowhere : address);
    return address;
  }

  #join(reference: string, base: string): string | undefined {
    if (reference.startsWith("#")) return `${base}${reference}`;
    return URL.canParse(reference, base) ? new URL(reference, base).href : undefined;
  }
}

const broken = (reference: string): VenturiError =>
  new VenturiError(
    "schema.read",
    "invalid_input",
    `the schema's $ref "${reference.slice(0, 200)}" names nothing in it; references to elsewhere are not followed`,
  );
