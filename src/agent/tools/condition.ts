import { VenturiError } from "../../core/errors.ts";

type Values = Readonly<Record<string, unknown>>;
export type Condition = (values: Values) => boolean;
type Term = (values: Values) => unknown;

/**
 * Compiles a condition on a tool's arguments, such as `amount > 100 and not (currency == "EUR")` or `path matches "^/etc"`.
 * Names are paths into the arguments. There is nothing to call and nothing to assign.
 */
export function compileCondition(source: string): Condition {
  const parser = new Parser(source, tokenize(source));
  const term = parser.either();
  parser.end();
  return (values) => Boolean(term(values));
}

const tokenPattern =
  /\s*(?:(\d+(?:\.\d+)?)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|([A-Za-z_][\w.]*)|(==|!=|<=|>=|[<>()]))/y;

interface Token {
  readonly kind: "number" | "string" | "name" | "sign" | "end";
  readonly text: string;
}

function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  tokenPattern.lastIndex = 0;
  while (source.slice(tokenPattern.lastIndex).trim() !== "") {
    const at = tokenPattern.lastIndex;
    const match = tokenPattern.exec(source);
    if (match === null) throw invalid(source, `at "${source.slice(at).trim().slice(0, 12)}"`);
    const [, number, string, name, sign] = match;
    if (number !== undefined) tokens.push({ kind: "number", text: number });
    else if (string !== undefined) tokens.push({ kind: "string", text: string.slice(1, -1).replace(/\\(.)/g, "$1") });
    else if (name !== undefined) tokens.push({ kind: "name", text: name });
    else tokens.push({ kind: "sign", text: sign ?? "" });
  }
  return tokens;
}

class Parser {
  readonly #source: string;
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(source: string, tokens: readonly Token[]) {
    this.#source = source;
    this.#tokens = tokens;
  }

  either(): Term {
    let left = this.#both();
    while (this.#take("or")) {
      const [first, second] = [left, this.#both()];
      left = (values) => Boolean(first(values)) || Boolean(second(values));
    }
    return left;
  }

  end(): void {
    if (this.#peek().kind !== "end") throw invalid(this.#source, `at "${this.#peek().text}"`);
  }

  #both(): Term {
    let left = this.#not();
    while (this.#take("and")) {
      const [first, second] = [left, this.#not()];
      left = (values) => Boolean(first(values)) && Boolean(second(values));
    }
    return left;
  }

  #not(): Term {
    if (!this.#take("not")) return this.#compare();
    const inner = this.#not();
    return (values) => !inner(values);
  }

  #compare(): Term {
    const left = this.#value();
    const operator = comparisons.find((name) => this.#take(name));
    if (operator === undefined) return left;
    const right = this.#value();
    return (values) => compare(operator, left(values), right(values));
  }

  #value(): Term {
    const token = this.#peek();
    this.#at += 1;
    if (token.kind === "number") return () => Number(token.text);
    if (token.kind === "string") return () => token.text;
    if (token.text === "true" || token.text === "false") return () => token.text === "true";
    if (token.kind === "name") return (values) => lookUp(values, token.text);
    if (token.text !== "(") throw invalid(this.#source, token.kind === "end" ? "at its end" : `at "${token.text}"`);
    const inner = this.either();
    if (!this.#take(")")) throw invalid(this.#source, 'a ")" is missing');
    return inner;
  }

  #take(text: string): boolean {
    const token = this.#peek();
    if (token.kind === "string" || token.text !== text) return false;
    this.#at += 1;
    return true;
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? { kind: "end", text: "" };
  }
}

const comparisons = ["==", "!=", "<=", ">=", "<", ">", "contains", "matches"] as const;

function compare(operator: (typeof comparisons)[number], left: unknown, right: unknown): boolean {
  switch (operator) {
    case "==":
      return left === right;
    case "!=":
      return left !== right;
    case "<=":
      return Number(left) <= Number(right);
    case ">=":
      return Number(left) >= Number(right);
    case "<":
      return Number(left) < Number(right);
    case ">":
      return Number(left) > Number(right);
    case "contains":
      return Array.isArray(left) ? left.includes(right) : String(left ?? "").includes(String(right));
    case "matches":
      return new RegExp(String(right)).test(String(left ?? ""));
  }
}

function lookUp(values: Values, path: string): unknown {
  let value: unknown = values;
  for (const key of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key]; // an own key of an object, checked above
  }
  return value;
}

const invalid = (source: string, where: string): VenturiError =>
  new VenturiError(
    "approval.compile",
    "config_invalid",
    `the condition ${JSON.stringify(source)} cannot be read ${where}`,
  );
