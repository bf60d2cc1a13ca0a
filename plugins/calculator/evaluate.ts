import { VenturiError } from "venturi/plugin";
import { constants, factorial, functions } from "./functions.ts";
import { type Token, tokenize } from "./tokens.ts";

export const maxLength = 1_000;
const maxDepth = 100;

/** Evaluates an arithmetic expression to 15 significant digits. Throws `tool_failed` with the position of the error. */
export function evaluate(expression: string): number {
  if (expression.length > maxLength) throw failure(`the expression is longer than ${maxLength} characters; split it`);
  const parser = new Parser(expression);
  const value = parser.whole();
  if (Number.isNaN(value)) throw failure("the expression has no real value (0/0, the root of a negative number, …)");
  if (!Number.isFinite(value)) throw failure("the result is infinite or too large (division by zero?)");
  return Number(value.toPrecision(15));
}

/** A number, and whether it is a bare percentage: after + and - that means "of the left-hand side". */
interface Operand {
  readonly value: number;
  readonly percent: boolean;
}

/** Recursive descent. Precedence, lowest first: + -, then * / and remainder, then sign, then power, then ! and percent. */
class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(expression: string) {
    this.#tokens = tokenize(expression);
  }

  whole(): number {
    const value = this.#sum().value;
    const rest = this.#peek();
    if (rest.kind !== "end") throw unexpected(rest, "an operator");
    return value;
  }

  #sum(): Operand {
    let left = this.#product();
    for (let sign = this.#take("+", "-"); sign !== undefined; sign = this.#take("+", "-")) {
      const right = this.#product();
      const amount = right.percent ? left.value * right.value : right.value;
      left = plain(sign === "+" ? left.value + amount : left.value - amount);
    }
    return left;
  }

  #product(): Operand {
    let left = this.#signed();
    for (;;) {
      const operator = this.#take("*", "/") ?? this.#takeRemainder();
      if (operator === undefined) return left;
      const right = this.#signed().value;
      left = plain(apply(operator, left.value, right));
    }
  }

  #signed(): Operand {
    return this.#nested(() => {
      const sign = this.#take("+", "-");
      if (sign === undefined) return this.#power();
      const operand = this.#signed();
      return sign === "-" ? { ...operand, value: -operand.value } : operand;
    });
  }

  #power(): Operand {
    const base = this.#postfix();
    if (this.#take("^") === undefined) return base;
    return plain(base.value ** this.#signed().value);
  }

  #postfix(): Operand {
    let operand = plain(this.#primary());
    for (;;) {
      if (this.#take("!") !== undefined) operand = plain(factorial(operand.value));
      else if (this.#peek().text === "%" && !this.#operandFollows()) {
        this.#next++;
        operand = { value: operand.value / 100, percent: true };
      } else return operand;
    }
  }

  #primary(): number {
    const token = this.#peek();
    this.#next++;
    if (token.kind === "number") return token.value;
    if (token.kind === "name") return this.#named(token);
    if (token.text !== "(") throw unexpected(token, "a number");
    const value = this.#sum().value;
    this.#close();
    return value;
  }

  #named(token: Token): number {
    const name = token.text.toLowerCase();
    if (this.#take("(") === undefined) {
      const value = Object.hasOwn(constants, name) ? constants[name] : undefined;
      if (value === undefined)
        throw failure(`"${token.text}" at ${token.at} is not a constant; known constants are ${known(constants)}`);
      return value;
    }
    const entry = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (entry === undefined)
      throw failure(`"${token.text}" at ${token.at} is not a function; known functions are ${known(functions)}`);
    const values = [this.#sum().value];
    while (this.#take(",") !== undefined) values.push(this.#sum().value);
    this.#close();
    if (values.length < entry.min || values.length > entry.max) {
      throw failure(`${name} takes ${entry.min === entry.max ? entry.min : `${entry.min} to ${entry.max}`} values`);
    }
    return entry.apply(values);
  }

  #nested(parse: () => Operand): Operand {
    if (++this.#depth > maxDepth) throw failure(`the expression is nested deeper than ${maxDepth} levels`);
    const operand = parse();
    this.#depth--;
    return operand;
  }

  #close(): void {
    if (this.#take(")") === undefined) throw unexpected(this.#peek(), '")"');
  }

  #takeRemainder(): string | undefined {
    return this.#operandFollows() ? this.#take("%") : undefined;
  }

  /** `10 % 3` is a remainder, `10% + 3` and `10%` are percentages: what follows the sign decides. */
  #operandFollows(): boolean {
    const token = this.#tokens[this.#next + 1];
    return token !== undefined && (token.kind === "number" || token.kind === "name" || token.text === "(");
  }

  #take(...texts: readonly string[]): string | undefined {
    const token = this.#peek();
    if (token.kind !== "sign" || !texts.includes(token.text)) return undefined;
    this.#next++;
    return token.text;
  }

  #peek(): Token {
    return this.#tokens[this.#next] ?? { kind: "end", text: "", at: this.#tokens.length, value: Number.NaN };
  }
}

const plain = (value: number): Operand => ({ value, percent: false });

function apply(operator: string, left: number, right: number): number {
  if (operator === "*") return left * right;
  if (right === 0) throw failure("division by zero");
  return operator === "/" ? left / right : left % right;
}

const unexpected = (token: Token, wanted: string) =>
  failure(
    token.kind === "end"
      ? `the expression ends where ${wanted} is expected`
      : `expected ${wanted} at character ${token.at}, found "${token.text}"`,
  );

const known = (table: object): string => Object.keys(table).join(", ");

const failure = (message: string) => new VenturiError("tool.call", "tool_failed", message);
