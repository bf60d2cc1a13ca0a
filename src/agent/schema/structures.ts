import type { Check } from "./check.ts";
import { canonical } from "./equal.ts";
import type { Pattern } from "./pattern.ts";
import { isRecord } from "./scalars.ts";

const arrayCheck =
  (
    check: (
      items: readonly unknown[],
      ...rest: Parameters<Check> extends [unknown, ...infer Rest] ? Rest : never
    ) => boolean,
  ): Check =>
  (value, checking, path) =>
    !Array.isArray(value) || check(value, checking, path);

const objectCheck =
  (
    check: (
      members: Record<string, unknown>,
      ...rest: Parameters<Check> extends [unknown, ...infer Rest] ? Rest : never
    ) => boolean,
  ): Check =>
  (value, checking, path) =>
    !isRecord(value) || check(value, checking, path);

/** The first items by position, the rest by `rest`. */
export const items = (first: readonly Check[], rest: Check | undefined): Check =>
  arrayCheck((list, checking, path) => {
    let fits = true;
    for (let at = 0; at < list.length; at++) {
      const check = first[at] ?? rest;
      if (check === undefined) break;
      if (!check(list[at], checking, `${path}/${at}`)) fits = false;
    }
    return fits;
  });

export const itemCount = (least: number, most: number): Check =>
  arrayCheck((list, checking, path) => {
    if (list.length < least) return checking.misfit(path, `must NOT have fewer than ${least} items`);
    return list.length <= most || checking.misfit(path, `must NOT have more than ${most} items`);
  });

export const unique: Check = arrayCheck((list, checking, path) => {
  const seen = new Set<string>();
  for (const item of list) {
    const text = canonical(item, checking);
    if (seen.has(text)) return checking.misfit(path, "must NOT have duplicate items");
    seen.add(text);
  }
  return true;
});

export const contains = (check: Check, least: number, most: number): Check =>
  arrayCheck((list, checking, path) => {
    const before = checking.problems.length;
    let count = 0;
    for (const [at, item] of list.entries()) if (check(item, checking, `${path}/${at}`)) count++;
    checking.problems.length = Math.min(before, checking.problems.length);
    if (count >= least && count <= most) return true;
    return checking.misfit(path, `must contain at least ${least} valid item(s)`);
  });

export const required = (names: readonly string[]): Check =>
  objectCheck((members, checking, path) => {
    let fits = true;
    for (const name of names) {
      checking.spend(1);
      if (!Object.hasOwn(members, name) || members[name] === undefined)
        fits = checking.misfit(path, `must have required property '${name}'`);
    }
    return fits;
  });

export const memberCount = (least: number, most: number): Check =>
  objectCheck((members, checking, path) => {
    const count = Object.keys(members).length;
    if (count < least) return checking.misfit(path, `must NOT have fewer than ${least} properties`);
    return count <= most || checking.misfit(path, `must NOT have more than ${most} properties`);
  });

export interface Members {
  readonly named: ReadonlyMap<string, Check>;
  readonly matching: readonly { readonly pattern: Pattern; readonly check: Check }[];
  /** Check of properties matched by neither name nor pattern; false forbids them. */
  readonly others: Check | false | undefined;
}

export const members = ({ named, matching, others }: Members): Check =>
  objectCheck((object, checking, path) => {
    let fits = true;
    for (const [name, value] of Object.entries(object)) {
      checking.spend(1);
      if (value === undefined) continue;
      const at = `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      const own = named.get(name);
      let known = own !== undefined;
      if (own !== undefined && !own(value, checking, at)) fits = false;
      for (const { pattern, check } of matching) {
        checking.spend(1 + (pattern.states * name.length) / 64);
        if (!pattern.test(name)) continue;
        known = true;
        if (!check(value, checking, at)) fits = false;
      }
      if (known || others === undefined) continue;
      if (others === false) fits = checking.misfit(path, `must NOT have additional properties: '${name.slice(0, 64)}'`);
      else if (!others(value, checking, at)) fits = false;
    }
    return fits;
  });

export const names = (check: Check): Check =>
  objectCheck((object, checking, path) => {
    let fits = true;
    for (const name of Object.keys(object))
      if (!check(name, checking, path)) fits = checking.misfit(path, "property name must be valid");
    return fits;
  });

/** The check applies to the whole object if the property is present. */
export const dependent = (name: string, check: Check): Check =>
  objectCheck((object, checking, path) => !Object.hasOwn(object, name) || check(object, checking, path));
