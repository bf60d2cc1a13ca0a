import type { Checking } from "./check.ts";

/** Equality in the sense of JSON Schema: by value, ignoring key order. */
export function equal(left: unknown, right: unknown, checking: Checking): boolean {
  checking.spend(1);
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => equal(item, right[index], checking));
  }
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(right, key) &&
      equal((left as Record<string, unknown>)[key], (right as Record<string, unknown>)[key], checking), // Both have the same own keys.
  );
}

/** Canonical text, equal only for equal values: makes uniqueness checks linear in the size. */
export function canonical(value: unknown, checking: Checking): string {
  checking.spend(1);
  if (typeof value === "string") {
    checking.spend(value.length >> 6);
    return JSON.stringify(value);
  }
  if (typeof value !== "object" || value === null) return String(value === 0 ? 0 : value);
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, checking)).join(",")}]`;
  const entries = Object.keys(value).sort();
  const texts = entries.map(
    (key) => `${JSON.stringify(key)}:${canonical((value as Record<string, unknown>)[key], checking)}`, // An own key of the value.
  );
  return `{${texts.join(",")}}`;
}
