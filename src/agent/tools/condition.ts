import { isDeepStrictEqual } from "node:util";
import { type ASTNode, Environment, ParseError, serialize } from "@marcbachmann/cel-js";
import { RE2JS } from "re2js";
import { messageOf, VenturiError } from "../../core/errors/errors.ts";
import { childrenOf, mayHave, namesIn, pathsIn } from "./reachable.ts";

type Values = Readonly<Record<string, unknown>>;

/** Whether a call with these arguments needs approval. */
export type Condition = (values: Values) => boolean;

/** `pattern` uses RE2 syntax and runs in linear time, whatever the model wrote. */
const patterns = new Map<string, RE2JS>();

/** Arguments are doubles and literals such as `1` are integers, which plain CEL cannot mix in arithmetic. */
const arithmetic: Readonly<Record<string, (left: number, right: number) => number>> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right,
  "%": (left, right) => left % right,
};

let kept: Environment | undefined;
/** Made with the first condition: most configurations have none. */
const environment = (): Environment => (kept ??= makeEnvironment());

function makeEnvironment(): Environment {
  const made = new Environment({
    unlistedVariablesAreDyn: true,
    homogeneousAggregateLiterals: false,
    limits: { maxAstNodes: 1_000, maxDepth: 50 },
  })
    .registerFunction("venturi_same(dyn, dyn): bool", same)
    .registerFunction("venturi_in(dyn, dyn): bool", isIn)
    .registerFunction("venturi_matches(dyn, dyn): bool", matches)
    .registerFunction("venturi_and(bool, bool): bool", (left: boolean, right: boolean) => left && right)
    .registerFunction("venturi_or(bool, bool): bool", (left: boolean, right: boolean) => left || right)
    .registerFunction("venturi_finite(dyn): dyn", finite);
  for (const [sign, calculate] of Object.entries(arithmetic)) {
    const mixed = (left: number | bigint, right: number | bigint) => calculate(Number(left), Number(right));
    made.registerOperator(`double ${sign} int`, mixed).registerOperator(`int ${sign} double`, mixed);
  }
  return made.registerOperator("double % double", (left: number, right: number) => left % right);
}

/**
 * Compiles a CEL condition on a tool's arguments, such as `amount > 100 && currency != "EUR"`. Arguments are variables, and
 * `args` holds all of them. Plain CEL lets a comparison with a missing value pass if the rest of the expression decides, and
 * treats values of different types as unequal. Here both require approval, so that no spelling of the arguments bypasses the
 * condition. Only `has()` marks a value as optional; with it, `&&` and `||` behave as in CEL.
 */
export function compileCondition(source: string): Condition {
  try {
    const parsed = environment().parse(source);
    const judge = environment().parse(strict(parsed.ast, { guarded: mentions(parsed.ast, "has") }));
    // Check the original, so that errors quote what the author wrote.
    for (const { valid, type, error } of [parsed.check(), judge.check()]) {
      if (!valid) throw error;
      if (type !== "bool" && type !== "dyn") throw new Error(`it is of type ${type}, not true or false`);
    }
    return (values) => asks(judge, values);
  } catch (thrown) {
    throw new VenturiError("approval.compile", "config_invalid", `invalid condition: ${reasonOf(thrown)}`, {
      cause: thrown,
    });
  }
}

/**
 * Refuses a condition on arguments that none of the tools has: `has(args.price)` is always false where the price is
 * `args.body.price`, and nobody is asked.
 */
export function checkCondition(
  source: string,
  tools: readonly { readonly name: string; readonly parameters: unknown }[],
): void {
  const [first] = tools;
  if (first === undefined) return;
  for (const path of pathsIn(environment().parse(source).ast)) {
    if (tools.some(({ parameters }) => mayHave(parameters, path))) continue;
    const known = [...new Set(tools.flatMap(({ parameters }) => namesIn(parameters)))].slice(0, 20);
    const who = tools.length === 1 ? `the tool "${first.name}" has` : "none of its tools has";
    const message = `the condition \`${source}\` can never hold as meant: ${who} no argument args.${path.join(".")}${known.length === 0 ? "" : `; there are ${known.join(", ")}`}`;
    throw new VenturiError("approval.compile", "config_invalid", message);
  }
}

/** Fails closed: whatever cannot be evaluated needs approval. */
function asks(judge: (context: Values) => unknown, values: Values): boolean {
  // No prototype, since its properties would become variables.
  const context: Record<string, unknown> = Object.assign(Object.create(null), { args: values }, values);
  try {
    return judge(context) !== false;
  } catch {
    return true;
  }
}

/** Rewrites the expression so that comparisons and logic use the strict functions above. */
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
    default: {
      const whole = `((${inner(node.args[0])}) ${node.op} (${inner(node.args[1])}))`;
      return Object.hasOwn(arithmetic, node.op) ? `venturi_finite(${whole})` : whole;
    }
  }
}

const isNull = (node: ASTNode): boolean => node.op === "value" && node.args === null;

/** A literal pattern is compiled at load. */
function matching(subject: ASTNode, [pattern]: readonly ASTNode[], inner: (child: ASTNode) => string): string {
  if (pattern === undefined) throw new Error("matches() takes a pattern");
  if (pattern.op === "value" && typeof pattern.args === "string") patternOf(pattern.args);
  return `venturi_matches(${inner(subject)}, ${inner(pattern)})`;
}

function mentions(node: ASTNode, call: string): boolean {
  if (node.op === "call" && node.args[0] === call) return true;
  return childrenOf(node).some((child) => mentions(child, call));
}

function same(left: unknown, right: unknown): boolean {
  mustBeAlike(left, right);
  return isDeepStrictEqual(plainOf(left), plainOf(right));
}

/** Converts to JSON values: CEL's integers are bigints. */
function plainOf(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(plainOf);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plainOf(inner)]));
}

/** Rejects NaN (such as 0 / 0): every comparison with it is false. */
function finite(value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) throw new Error("the result is not a number");
  return value;
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
    // At run time only patterns from arguments are new; not worth caching.
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
