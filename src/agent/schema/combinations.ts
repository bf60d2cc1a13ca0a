import type { Check } from "./check.ts";

export const anyOf =
  (checks: readonly Check[]): Check =>
  (value, checking, path) => {
    const before = checking.problems.length;
    for (const check of checks) {
      if (!check(value, checking, path)) continue;
      checking.problems.length = before;
      return true;
    }
    return checking.misfit(path, "must match a schema in anyOf");
  };

export const oneOf =
  (checks: readonly Check[]): Check =>
  (value, checking, path) => {
    const before = checking.problems.length;
    let count = 0;
    for (const check of checks) if (check(value, checking, path)) count++;
    if (count === 1) {
      checking.problems.length = before;
      return true;
    }
    return checking.misfit(path, "must match exactly one schema in oneOf");
  };

export const not =
  (check: Check): Check =>
  (value, checking, path) => {
    const before = checking.problems.length;
    const fits = check(value, checking, path);
    checking.problems.length = before;
    return !fits || checking.misfit(path, "must NOT be valid");
  };

export const conditional =
  (condition: Check, then: Check, otherwise: Check): Check =>
  (value, checking, path) => {
    const before = checking.problems.length;
    const holds = condition(value, checking, path);
    checking.problems.length = before;
    return holds ? then(value, checking, path) : otherwise(value, checking, path);
  };
