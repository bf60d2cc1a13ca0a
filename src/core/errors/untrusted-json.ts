import { excessOfJson, type ValueLimits, valueLimits } from "../values/value-limits.ts";
import { VenturiError } from "./errors.ts";

const op = "request.parse";

/** Parses untrusted JSON: checks the limits before parsing and refuses prototype keys. */
export function parseUntrusted(text: string, limits: Partial<ValueLimits> = {}): unknown {
  if (text === "") return undefined;
  const excess = excessOfJson(text, { ...valueLimits, ...limits });
  if (excess !== undefined) throw new VenturiError(op, "invalid_input", `the JSON ${excess}`);
  try {
    // A reviver makes parsing several times slower, so only text that may contain such a key pays for it.
    return suspect.test(text) ? JSON.parse(text, refusePrototypes) : JSON.parse(text);
  } catch (thrown) {
    if (VenturiError.isInstance(thrown)) throw thrown;
    throw new VenturiError(op, "invalid_input", "this is not valid JSON", { cause: thrown });
  }
}

const suspect = /__proto__|constructor|\\u/;

function refusePrototypes(key: string, value: unknown): unknown {
  if (key === "__proto__" || (key === "constructor" && hasPrototype(value))) {
    throw new VenturiError(op, "invalid_input", `the key "${key}" is not accepted`);
  }
  return value;
}

const hasPrototype = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.hasOwn(value, "prototype");
