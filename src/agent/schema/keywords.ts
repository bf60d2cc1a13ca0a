import { VenturiError } from "../../core/errors/errors.ts";
import type { Check } from "./check.ts";
import { every } from "./check.ts";
import { anyOf, conditional, not, oneOf } from "./combinations.ts";
import { patternOf } from "./pattern.ts";
import * as scalars from "./scalars.ts";
import { isRecord, isType } from "./scalars.ts";
import * as structures from "./structures.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Access to the subschemas of a keyword. */
export interface Inner {
  /** Subschema of a child value. */
  subschema(schema: unknown): Check;
  /** Subschema of the same value. */
  whole(schema: unknown): Check;
}

const always: Check = () => true;

/** The checks of a schema's keywords; annotations (`format`, `default`, `title`) have none. */
export function checksOf(schema: Schema, inner: Inner): Check[] {
  return [
    ...valueChecks(schema),
    ...numberChecks(schema),
    ...stringChecks(schema),
    ...arrayChecks(schema, inner),
    ...objectChecks(schema, inner),
    ...combinationChecks(schema, inner),
  ];
}

function* valueChecks(schema: Schema): Generator<Check> {
  const { type, nullable } = schema;
  if (type !== undefined) {
    const names = Array.isArray(type) ? type : [type];
    if (!names.every(isType)) throw malformed("type", "one of null, boolean, number, integer, string, array, object");
    yield scalars.type(names, nullable === true);
  }
  if ("const" in schema) yield scalars.constant(schema.const);
  const allowed = listIn(schema, "enum");
  if (allowed) yield scalars.oneOfValues(allowed);
}

function* numberChecks(schema: Schema): Generator<Check> {
  // OpenAPI 3.0 uses a boolean next to the limit where JSON Schema has the limit itself.
  const strictMost = schema.exclusiveMaximum === true;
  const strictLeast = schema.exclusiveMinimum === true;
  const most = numberIn(schema, "maximum");
  const least = numberIn(schema, "minimum");
  if (most !== undefined) yield strictMost ? scalars.exclusiveMaximum(most) : scalars.maximum(most);
  if (least !== undefined) yield strictLeast ? scalars.exclusiveMinimum(least) : scalars.minimum(least);
  if (typeof schema.exclusiveMaximum !== "boolean") {
    const below = numberIn(schema, "exclusiveMaximum");
    if (below !== undefined) yield scalars.exclusiveMaximum(below);
  }
  if (typeof schema.exclusiveMinimum !== "boolean") {
    const above = numberIn(schema, "exclusiveMinimum");
    if (above !== undefined) yield scalars.exclusiveMinimum(above);
  }
  const step = numberIn(schema, "multipleOf");
  if (step !== undefined && step <= 0) throw malformed("multipleOf", "a number above 0");
  if (step !== undefined) yield scalars.multipleOf(step);
}

function* stringChecks(schema: Schema): Generator<Check> {
  const most = countIn(schema, "maxLength");
  const least = countIn(schema, "minLength");
  if (most !== undefined) yield scalars.maxLength(most);
  if (least !== undefined) yield scalars.minLength(least);
  const { pattern } = schema;
  if (pattern === undefined) return;
  if (typeof pattern !== "string") throw malformed("pattern", "a string");
  yield scalars.matching(pattern);
}

function* arrayChecks(schema: Schema, inner: Inner): Generator<Check> {
  const tuple = listIn(schema, "prefixItems") ?? (Array.isArray(schema.items) ? schema.items : undefined);
  const others = tuple !== undefined && tuple === schema.items ? schema.additionalItems : schema.items;
  if (tuple !== undefined || others !== undefined) {
    const rest = others === undefined ? undefined : inner.subschema(others);
    yield structures.items(
      (tuple ?? []).map((each) => inner.subschema(each)),
      rest,
    );
  }
  const least = countIn(schema, "minItems") ?? 0;
  const most = countIn(schema, "maxItems") ?? Number.POSITIVE_INFINITY;
  if (least > 0 || most < Number.POSITIVE_INFINITY) yield structures.itemCount(least, most);
  if (schema.uniqueItems === true) yield structures.unique;
  if (schema.contains !== undefined) {
    const fewest = countIn(schema, "minContains") ?? 1;
    const mostFound = countIn(schema, "maxContains") ?? Number.POSITIVE_INFINITY;
    yield structures.contains(inner.subschema(schema.contains), fewest, mostFound);
  }
}

function* objectChecks(schema: Schema, inner: Inner): Generator<Check> {
  const names = namesIn(schema, "required");
  if (names) yield structures.required(names);
  const least = countIn(schema, "minProperties") ?? 0;
  const most = countIn(schema, "maxProperties") ?? Number.POSITIVE_INFINITY;
  if (least > 0 || most < Number.POSITIVE_INFINITY) yield structures.memberCount(least, most);
  const named = mapIn(schema, "properties");
  const matching = mapIn(schema, "patternProperties");
  const others = schema.additionalProperties;
  if (named || matching || others !== undefined) {
    yield structures.members({
      named: new Map(Object.entries(named ?? {}).map(([name, each]) => [name, inner.subschema(each)])),
      matching: Object.entries(matching ?? {}).map(([source, each]) => ({
        pattern: patternOf(source),
        check: inner.subschema(each),
      })),
      others: others === undefined || others === false ? others : inner.subschema(others),
    });
  }
  if (schema.propertyNames !== undefined) yield structures.names(inner.subschema(schema.propertyNames));
  yield* dependencyChecks(schema, inner);
}

function* dependencyChecks(schema: Schema, inner: Inner): Generator<Check> {
  for (const keyword of ["dependencies", "dependentSchemas", "dependentRequired"]) {
    for (const [name, each] of Object.entries(mapIn(schema, keyword) ?? {})) {
      yield structures.dependent(name, Array.isArray(each) ? structures.required(each.map(String)) : inner.whole(each));
    }
  }
}

function* combinationChecks(schema: Schema, inner: Inner): Generator<Check> {
  const schemasIn = (keyword: string) => listIn(schema, keyword)?.map((each) => inner.whole(each));
  const all = schemasIn("allOf");
  if (all) yield every(all);
  const any = schemasIn("anyOf");
  if (any) yield anyOf(any);
  const one = schemasIn("oneOf");
  if (one) yield oneOf(one);
  if (schema.not !== undefined) yield not(inner.whole(schema.not));
  if (schema.if === undefined) return;
  const branch = (each: unknown) => (each === undefined ? always : inner.whole(each));
  yield conditional(inner.whole(schema.if), branch(schema.then), branch(schema.else));
}

function listIn(schema: Schema, keyword: string): readonly unknown[] | undefined {
  const value = schema[keyword];
  if (value === undefined || Array.isArray(value)) return value;
  throw malformed(keyword, "a list");
}

function mapIn(schema: Schema, keyword: string): Readonly<Record<string, unknown>> | undefined {
  const value = schema[keyword];
  if (value === undefined || isRecord(value)) return value;
  throw malformed(keyword, "an object");
}

function namesIn(schema: Schema, keyword: string): readonly string[] | undefined {
  const list = listIn(schema, keyword);
  if (list?.every((each) => typeof each === "string")) return list as readonly string[]; // Every element was checked.
  if (list === undefined) return undefined;
  throw malformed(keyword, "a list of names");
}

function numberIn(schema: Schema, keyword: string): number | undefined {
  const value = schema[keyword];
  if (value === undefined || typeof value === "number") return value;
  throw malformed(keyword, "a number");
}

function countIn(schema: Schema, keyword: string): number | undefined {
  const value = numberIn(schema, keyword);
  if (value === undefined || (Number.isInteger(value) && value >= 0)) return value;
  throw malformed(keyword, "a whole number from 0 on");
}

export const malformed = (keyword: string, wanted: string): VenturiError =>
  new VenturiError("schema.read", "invalid_input", `the JSON Schema is not valid: "${keyword}" must be ${wanted}`);
