import { excessOfJson, type ValueLimits, valueLimits } from "../values/value-limits.ts";
import { VenturiError } from "./errors.ts";

const op = "request.parse";

export interface UntrustedOptions extends Partial<ValueLimits> {
  /** The text was changed after the sender wrote it, so positions in it are not reported. */
  readonly shortened?: boolean;
  /** Numbers that become Infinity are left to the caller, who has their text. */
  readonly anyNumber?: boolean;
}

/** Parses untrusted JSON: checks the limits first and refuses prototype keys, and numbers that would be stored as null. */
export function parseUntrusted(text: string, limits: UntrustedOptions = {}): unknown {
  if (text === "") return undefined;
  const excess = excessOfJson(text, { ...valueLimits, ...limits });
  if (excess !== undefined) throw new VenturiError(op, "invalid_input", `the JSON ${excess}`);
  try {
    // A reviver makes parsing several times slower, so only text that may contain such a key pays for it.
    if (limits.anyNumber !== true && large.test(text)) return JSON.parse(text, refuseInfinite);
    return suspect.test(text) ? JSON.parse(text, refusePrototypes) : JSON.parse(text);
  } catch (thrown) {
    if (VenturiError.isInstance(thrown)) throw thrown;
    const fault = limits.shortened === true ? undefined : faultIn(text, thrown);
    if (fault === undefined) throw new VenturiError(op, "invalid_input", "this is not valid JSON", { cause: thrown });
    const message = `this is not valid JSON: ${fault.what} at line ${fault.line}, column ${fault.column}`;
    const { line, column, position } = fault;
    throw new VenturiError(op, "invalid_input", message, { cause: thrown, details: { line, column, position } });
  }
}

/** Longer texts are not searched for the position of a syntax error, characters. */
const mostSearched = 1024 * 1024;

/** Position at which the text stops being valid JSON. V8 reports it for most errors, but not for all. */
function faultIn(text: string, thrown: unknown) {
  if (text.length > mostSearched) return undefined;
  let position = Number(/ at position (\d+)/.exec(String(thrown))?.[1] ?? Number.NaN);
  if (Number.isNaN(position)) {
    // Binary search for the longest prefix that could still become valid.
    let low = 0;
    let high = text.length;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (mayGoOn(text.slice(0, middle))) low = middle;
      else high = middle - 1;
    }
    position = low;
  }
  const before = text.slice(0, position).split("\n");
  const found = text.codePointAt(position);
  const what = found === undefined ? "it ends too early," : `unexpected ${JSON.stringify(String.fromCodePoint(found))}`;
  return { what, line: before.length, column: (before.at(-1)?.length ?? 0) + 1, position };
}

function mayGoOn(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (thrown) {
    const message = String(thrown);
    const at = / at position (\d+)/.exec(message)?.[1];
    return /Unexpected end|Unterminated string/.test(message) || Number(at) >= text.length;
  }
}

const suspect = /__proto__|constructor|\\u/;
/** A number that may be beyond 1.8e308: 20 digits stand for 309, which could not be proved to take linear time. */
const large = /[[:,\s]-?\d(?:[\d.]*[eE]\+?\d{3}|\d{20})/;

function refuseInfinite(key: string, value: unknown): unknown {
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) {
    throw new VenturiError(
      op,
      "invalid_input",
      `the number at "${key.slice(0, 100)}" is too large; the largest is 1.8e308`,
    );
  }
  return refusePrototypes(key, value);
}

function refusePrototypes(key: string, value: unknown): unknown {
  if (key === "__proto__" || (key === "constructor" && hasPrototype(value))) {
    throw new VenturiError(op, "invalid_input", `the key "${key}" is not accepted`);
  }
  return value;
}

const hasPrototype = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.hasOwn(value, "prototype");
