import type { ASTNode } from "@marcbachmann/cel-js";

type Schema = Readonly<Record<string, unknown>>;

/** CEL macros whose first argument declares a variable. */
const binding = new Set(["all", "exists", "exists_one", "map", "filter"]);

/** The argument paths an expression reads: `args.body.price` and `body["price"]` become `body`, `price`. */
export function pathsIn(node: ASTNode, bound: ReadonlySet<string> = new Set()): string[][] {
  const whole = pathOf(node, bound);
  if (whole !== undefined) return whole.length === 0 ? [] : [whole];
  if (node.op === "rcall" && binding.has(node.args[0])) {
    const [, subject, [variable, ...rest]] = node.args;
    const inner = variable?.op === "id" ? new Set([...bound, variable.args]) : bound;
    return [...pathsIn(subject, bound), ...rest.flatMap((each) => pathsIn(each, inner))];
  }
  return childrenOf(node).flatMap((child) => pathsIn(child, bound));
}

/** Undefined if the node is not a path. A computed key ends the path. */
function pathOf(node: ASTNode, bound: ReadonlySet<string>): string[] | undefined {
  if (node.op === "id") return bound.has(node.args) ? undefined : node.args === "args" ? [] : [node.args];
  if (node.op !== "." && node.op !== ".?" && node.op !== "[]" && node.op !== "[?]") return undefined;
  const [subject, key] = node.args;
  const before = pathOf(subject, bound);
  if (before === undefined) return undefined;
  if (typeof key === "string") return [...before, key];
  return key.op === "value" && typeof key.args === "string" ? [...before, key.args] : undefined;
}

export const childrenOf = (node: ASTNode): ASTNode[] =>
  [node.args].flat(3).filter((child): child is ASTNode => typeof child === "object" && child !== null && "op" in child);

/** Whether arguments that match the schema, without undeclared properties, can have a value at this path. */
export function mayHave(schema: unknown, path: readonly string[], root: unknown = schema, depth = 0): boolean {
  const [key, ...rest] = path;
  if (key === undefined || !isObject(schema) || depth > 32) return schema !== false;
  if (typeof schema.$ref === "string") return mayHave(resolve(root, schema.$ref), path, root, depth + 1);
  const combined = ["anyOf", "oneOf", "allOf"].flatMap((name) =>
    Array.isArray(schema[name]) ? (schema[name] as unknown[]) : [],
  );
  if (combined.some((each) => mayHave(each, path, root, depth + 1))) return true;
  const { properties, patternProperties, additionalProperties, items, type } = schema;
  const isScalar = typeof type === "string" && type !== "object" && type !== "array";
  if (isScalar) return false;
  if (isObject(items) && /^\d+$/.test(key)) return mayHave(items, rest, root, depth + 1);
  if (isObject(properties) && Object.hasOwn(properties, key)) return mayHave(properties[key], rest, root, depth + 1);
  if (isObject(patternProperties) || isObject(additionalProperties) || additionalProperties === true) return true;
  // A schema without properties allows any, unless it combines several schemas.
  return !isObject(properties) && combined.length === 0 && additionalProperties !== false;
}

/** Property names at the top level and one below, for error messages. */
export const namesIn = (schema: unknown): string[] => {
  const top = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
  return Object.entries(top).flatMap(([name, below]) => {
    const inner = isObject(below) && isObject(below.properties) ? Object.keys(below.properties) : [];
    return inner.length === 0 ? [`args.${name}`] : inner.map((each) => `args.${name}.${each}`);
  });
};

function resolve(root: unknown, reference: string): unknown {
  if (!reference.startsWith("#/")) return {};
  return reference
    .slice(2)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((at, token) => (isObject(at) ? at[token] : undefined), root);
}

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
