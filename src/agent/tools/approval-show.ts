import type { Shown, Tool } from "../../core/ports/tool.ts";

/** Maximum length of a highlighted value; the arguments hold all of it. */
const longest = 200;

/** The argument values highlighted by `approval.show`; absent ones are left out. */
export function shownFirst(
  approval: Tool["approval"],
  values: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): { show?: readonly Shown[] } {
  if (typeof approval !== "object" || approval.show === undefined) return {};
  const show = approval.show.flatMap((path): Shown[] => {
    const [root = "", ...names] = path.split(".");
    const value = names.reduce<unknown>(valueIn, values[root]);
    const name = names.at(-1);
    if (value === undefined || name === undefined) return [];
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return [{ name, value: text.slice(0, longest).toWellFormed() }];
  });
  return show.length === 0 ? {} : { show };
}

const valueIn = (of: unknown, name: string): unknown =>
  typeof of === "object" && of !== null && Object.hasOwn(of, name) ? (of as Record<string, unknown>)[name] : undefined; // An own property.
