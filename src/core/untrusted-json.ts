import { VenturiError } from "./errors.ts";

const op = "request.parse";

/** JSON from outside: refused before it is parsed when it is nested too deep, after it when it carries a prototype. */
export function parseUntrusted(text: string, depth: number): unknown {
  if (text === "") return undefined;
  checkDepth(text, depth);
  try {
    // A reviver costs several times the parsing, so only text that could hold such a key pays for it.
    return suspect.test(text) ? JSON.parse(text, refusePrototypes) : JSON.parse(text);
  } catch (thrown) {
    if (VenturiError.isInstance(thrown)) throw thrown;
    throw new VenturiError(op, "invalid_input", "this is no valid JSON", { cause: thrown });
  }
}

function checkDepth(text: string, most: number): void {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index);
    if (inString) {
      if (character === backslash) index++;
      else if (character === quote) inString = false;
    } else if (character === quote) inString = true;
    else if (character === openBrace || character === openBracket) {
      if (++depth > most) throw new VenturiError(op, "invalid_input", `the JSON is nested deeper than ${most} levels`);
    } else if (character === closeBrace || character === closeBracket) depth--;
  }
}

const suspect = /__proto__|constructor|\\u/;

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const openBracket = 0x5b;
const closeBrace = 0x7d;
const closeBracket = 0x5d;

function refusePrototypes(key: string, value: unknown): unknown {
  if (key === "__proto__" || (key === "constructor" && hasPrototype(value))) {
    throw new VenturiError(op, "invalid_input", `the key "${key}" is not accepted`);
  }
  return value;
}

const hasPrototype = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.hasOwn(value, "prototype");
