import { isDeepStrictEqual } from "node:util";
import { type ASTNode, Environment, ParseError, serialize } from "@marcbachmann/cel-js";
import { RE2JS } from "re2js";
import { messageOf, VenturiError } from "../../core/errors.ts";

type Values = Readonly<Record<string, unknown>>;

/** Whether a person is to be asked about a call with these arguments. */
export type Condition = (values: Values) => boolean;

/** `pattern` is RE2's, which takes linear time whatever the model wrote. */
const patterns = new Map<string, RE2JS>();

const environment = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: 1_000, maxDepth: 50 },
})
  .registerFunction("venturi_same(dyn, dyn): bool", same)
  .registerFunction("venturi_in(dyn, dyn): bool", isIn)
  .registerFunction("venturi_matches(dyn, dyn): bool", matches)
  .registerFunction("venturi_and(bool, bool): bool", (left: boolean, right: boolean) => left && right)
  .registerFunction("venturi_or(bool, bool): bool", (left: boolean, right: boolean) => left || right);

/**
 * Compiles a condition in CEL on a tool's arguments, such as `amount > 100 && currency != "EUR"`. Arguments are variables, and
 * `args` is all of them. CEL lets a comparison with a missing value pass where the rest of the expression decides, and takes
 * values of two types for different: here either asks, so that no way of writing the arguments gets past the condition. Only
 * `has()` says that a value may be missing; with it, `&&` and `||` are CEL's own.
 */
export function compileCondition(source: string): Condition {
  try {
    const parsed = environment.parse(source);
    const judge = environment.parse(strict(parsed.ast, { guarded: mentions(parsed.ast, "has") }));
    // Of the original, so that a complaint names what the author wrote.
    for (const { valid, type, error } of [parsed.check(), judge.check()]) {
      if (!valid) throw error;
      if (type !== "bool" && type !== "dyn") throw new Error(`it is of type ${type}, not true or false`);
    }
    return (values) => asks(judge, values);
  } catch (thrown) {
    throw new VenturiError("approval.compile", "config_invalid", `no valid condition: ${reasonOf(thrown)}`, {
      cause: thrown,
    });
  }
}

/** What cannot be judged is asked about. */
function asks(judge: (context: Values) => unknown, values: Values): boolean {
  // Without a prototype, whose properties would be variables too.
  const context: Record<string, unknown> = Object.assign(Object.create(null), { args: values }, values);
  try {
    return judge(context) !== false;
  } catch {
    return true;
  }
}

/** The same expression, in which what compares and combines is of the functions above. */
function strict(node: ASTNode, rules: { readonly guarded: boolean }): string {
  const inner = (child: ASTNode) => strict(child, rules);
  const all = (children: readonly ASTNode[]) => children.map(inner).join(", ");
  switch (node.op) {
    case "value":
    case "id":
      return serialize(node);
    case ".":
    case ".?":
      return `(${inner(node.args[0])})${node.op}${node.args[1]}`;
    case "[]":
      return `(${inner(node.args[0])})[${inner(node.args[1])}]`;
    case "[?]":
      return `(${inner(node.args[0])})[?${inner(node.args[1])}]`;
    case "call":
      return node.args[0] === "has" ? serialize(node) : `${node.args[0]}(${all(node.args[1])})`;
    case "rcall":
      if (node.args[0] === "matches") return matching(node.args[1], node.args[2], inner);
      return `(${inner(node.args[1])}).${node.args[0]}(${all(node.args[2])})`;
    case "list":
      return `[${all(node.args)}]`;
    case "map":
      return `{${node.args.map(([key, value]) => `${inner(key)}: ${inner(value)}`).join(", ")}}`;
    case "?:":
      return `((${inner(node.args[0])}) ? (${inner(node.args[1])}) : (${inner(node.args[2])}))`;
    case "!_":
      return `!(${inner(node.args)})`;
    case "-_":
      return `-(${inner(node.args)})`;
    case "&&":
    case "||":
      if (rules.guarded) return `((${inner(node.args[0])}) ${node.op} (${inner(node.args[1])}))`;
      return `${node.op === "&&" ? "venturi_and" : "venturi_or"}(${all(node.args)})`;
    case "==":
    case "!=":
      if (node.args.some(isNull)) return `((${inner(node.args[0])}) ${node.op} (${inner(node.args[1])}))`;
      return `${node.op === "!=" ? "!" : ""}venturi_same(${all(node.args)})`;
    case "in":
      return `venturi_in(${all(node.args)})`;
    default:
      return `((${inner(node.args[0])}) ${node.op} (${inner(node.args[1])}))`;
  }
}

const isNull = (node: ASTNode): boolean => node.op === "value" && node.args === null;

/** A pattern that stands in the config is compiled with it. */
function matching(subject: ASTNode, [pattern]: readonly ASTNode[], inner: (child: ASTNode) => string): string {
  if (pattern === undefined) throw new Error("matches() takes a pattern");
  if (pattern.op === "value" && typeof pattern.args === "string") patternOf(pattern.args);
  return `venturi_matches(${inner(subject)}, ${inner(pattern)})`;
}

function mentions(node: ASTNode, call: string): boolean {
  if (node.op === "call" && node.args[0] === call) return true;
  return childrenOf(node).some((child) => mentions(child, call));
}

const childrenOf = (node: ASTNode): ASTNode[] =>
  [node.args].flat(3).filter((child): child is ASTNode => typeof child === "object" && child !== null && "op" in child);

function same(left: unknown, right: unknown): boolean {
  mustBeAlike(left, right);
  return isDeepStrictEqual(plainOf(left), plainOf(right));
}

/** As JSON has it: CEL's whole numbers are bigints, and its maps may be Maps. */
function plainOf(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(plainOf);
  if (typeof value !== "object" || value === null) return value;
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return Object.fromEntries(entries.map(([key, inner]) => [String(key), plainOf(inner)]));
}

function isIn(value: unknown, container: unknown): boolean {
  if (Array.isArray(container)) return container.some((element) => same(element, value));
  if (typeof container !== "object" || container === null) throw new Error("not a list or a map");
  return Object.hasOwn(container, String(value));
}

function matches(subject: unknown, pattern: unknown): boolean {
  if (typeof subject !== "string" || typeof pattern !== "string") throw new Error("not a text");
  return patternOf(pattern).matcher(subject).find();
}

function patternOf(source: string): RE2JS {
  let pattern = patterns.get(source);
  if (pattern === undefined) {
    pattern = RE2JS.compile(source);
    // Only a pattern from the arguments is new at run time; it is not worth keeping.
    if (patterns.size < 1_000) patterns.set(source, pattern);
  }
  return pattern;
}

function mustBeAlike(left: unknown, right: unknown): void {
  if (kindOf(left) !== kindOf(right)) throw new Error(`${kindOf(left)} and ${kindOf(right)} cannot be compared`);
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "list";
  return typeof value === "bigint" ? "number" : typeof value;
}

function reasonOf(thrown: unknown): string {
  const [first = ""] = messageOf(thrown).split("\n");
  if (!(thrown instanceof ParseError) || thrown.range === undefined) return first;
  return `${first} (character ${thrown.range.start + 1}; write \`&&\`, \`||\` and \`!\` for and, or and not)`;
}
