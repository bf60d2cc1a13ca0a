import { VenturiError } from "venturi/plugin";

export interface Token {
  readonly kind: "number" | "name" | "sign" | "end";
  readonly text: string;
  /** Position in characters, from 1. */
  readonly at: number;
  readonly value: number;
}

const pattern = /(?:(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)|[A-Za-z][A-Za-z0-9]*|\*\*|[-+*/^%!(),×÷·−π√]/y;
const spelled: ReadonlyMap<string, string> = new Map([
  ["**", "^"],
  ["×", "*"],
  ["·", "*"],
  ["÷", "/"],
  ["−", "-"],
  ["π", "pi"],
  ["√", "sqrt"],
]);

export function tokenize(expression: string): Token[] {
  const tokens: Token[] = [];
  const end = expression.trimEnd().length;
  let at = 0;
  while (at < end) {
    if (/\s/.test(expression.charAt(at))) {
      at++;
      continue;
    }
    pattern.lastIndex = at;
    const [found] = pattern.exec(expression) ?? [];
    if (found === undefined) throw unreadable(expression, at);
    tokens.push(token(spelled.get(found) ?? found, at + 1));
    at += found.length;
  }
  tokens.push({ kind: "end", text: "", at: end + 1, value: Number.NaN });
  return tokens;
}

function token(text: string, at: number): Token {
  if (/^[\d.]/.test(text)) return { kind: "number", text, at, value: Number(text.replaceAll("_", "")) };
  return { kind: /^[A-Za-z]/.test(text) ? "name" : "sign", text, at, value: Number.NaN };
}

const unreadable = (expression: string, at: number) =>
  new VenturiError(
    "tool.call",
    "tool_failed",
    `cannot read "${String.fromCodePoint(expression.codePointAt(at) ?? 0)}" at character ${at + 1}; use numbers, + - * / ^ % ! ( ) and function names`,
  );
