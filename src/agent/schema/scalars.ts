import type { Check } from "./check.ts";
import { equal } from "./equal.ts";
import { patternOf } from "./pattern.ts";

/** Keywords for types, numbers and strings. A value of a type the keyword does not apply to is valid. */

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === "boolean",
  number: (value) => Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  string: (value) => typeof value === "string",
  array: (value) => Array.isArray(value),
  object: (value) => isRecord(value),
};

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isType = (name: unknown): name is string => typeof name === "string" && Object.hasOwn(types, name);

export function type(names: readonly string[], nullable: boolean): Check {
  const wanted = nullable && !names.includes("null") ? [...names, "null"] : names;
  const tests = wanted.flatMap((name) => types[name] ?? []);
  const message = `must be ${wanted.join(",")}`;
  return (value, checking, path) => tests.some((test) => test(value)) || checking.misfit(path, message);
}

export const constant =
  (wanted: unknown): Check =>
  (value, checking, path) =>
    equal(value, wanted, checking) || checking.misfit(path, "must be equal to constant");

export const oneOfValues =
  (allowed: readonly unknown[]): Check =>
  (value, checking, path) =>
    allowed.some((each) => equal(value, each, checking)) ||
    checking.misfit(path, "must be equal to one of the allowed values");

/** Compares a number with the limit given by the keyword. */
const comparison =
  (words: string, holds: (value: number, limit: number) => boolean) =>
  (limit: number): Check =>
  (value, checking, path) =>
    typeof value !== "number" || holds(value, limit) || checking.misfit(path, `must be ${words} ${limit}`);

export const maximum = comparison("<=", (value, limit) => value <= limit);
export const minimum = comparison(">=", (value, limit) => value >= limit);
export const exclusiveMaximum = comparison("<", (value, limit) => value < limit);
export const exclusiveMinimum = comparison(">", (value, limit) => value > limit);
/** 0.3 is a multiple of 0.1, although not in binary floating point. */
export const multipleOf = comparison("multiple of", (value, step) => {
  const times = value / step;
  return Number.isInteger(times) || Math.abs(Math.round(times) - times) < 1e-9 * Math.max(1, Math.abs(times) * 1e-3);
});

/** Length in characters, not UTF-16 code units. */
const length =
  (words: string, holds: (length: number, limit: number) => boolean) =>
  (limit: number): Check =>
  (value, checking, path) => {
    if (typeof value !== "string") return true;
    checking.spend(value.length >> 5);
    return (
      holds(charactersIn(value), limit) || checking.misfit(path, `must NOT have ${words} than ${limit} characters`)
    );
  };

export const maxLength = length("more", (count, limit) => count <= limit);
export const minLength = length("fewer", (count, limit) => count >= limit);

function charactersIn(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length - 1; at++) {
    const isPair = (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
    if (isPair) pairs++;
  }
  return text.length - pairs;
}

export function matching(source: string): Check {
  const pattern = patternOf(source);
  const message = `must match pattern "${source}"`;
  return (value, checking, path) => {
    if (typeof value !== "string") return true;
    checking.spend(1 + (pattern.states * value.length) / 64);
    return pattern.test(value) || checking.misfit(path, message);
  };
}
