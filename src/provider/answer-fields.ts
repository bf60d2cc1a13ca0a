import type { NativeAnswer } from "../core/model/native.ts";
import { emptyMap, withEntry } from "../core/values/no-entries.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * The fields of a vendor's object that its decoder does not read, prefixed with `at`; undefined when there are none. Null values are
 * skipped.
 */
export function otherFields(object: Fields, known: ReadonlySet<string>, at = ""): Record<string, unknown> | undefined {
  let others: Record<string, unknown> | undefined;
  for (const name in object) {
    if (known.has(name) || name === "__proto__") continue;
    const value = object[name];
    if (value === null || value === undefined) continue;
    others ??= {};
    others[at + name] = value;
  }
  return others;
}

/** For fields that a vendor repeats in every chunk: reports only new or changed ones. */
export class ToldFields {
  #told = emptyMap<string, unknown>();

  news(fields: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
    if (fields === undefined) return undefined;
    let news: Record<string, unknown> | undefined;
    for (const [name, value] of Object.entries(fields)) {
      if (this.#told.has(name) && isSame(this.#told.get(name), value)) continue;
      this.#told = withEntry(this.#told, name, value);
      news ??= {};
      news[name] = value;
    }
    return news;
  }
}

const isSame = (one: unknown, other: unknown): boolean =>
  one === other || (typeof one === "object" && JSON.stringify(one) === JSON.stringify(other));

/** The `native` field of a delta, to be spread into it. */
export const answerOf = (wire: string, fields: Record<string, unknown> | undefined): { native?: NativeAnswer } =>
  fields === undefined ? {} : { native: { wire, fields } };
