/** `{{body.a.0.b}}`, `{{headers.x-name}}`, `{{body}}`. Only values, no expressions or loops. */
const hole = /\{\{\s*([\w.-]{1,256})\s*\}\}/g;

const roots: ReadonlySet<string> = new Set(["body", "headers"]);

/** The problem with a template; undefined if there is none. */
export function templateProblem(template: string): string | undefined {
  for (const [text, path = ""] of template.matchAll(hole)) {
    if (!roots.has(path.split(".")[0] ?? "")) return `${text} begins with neither body nor headers`;
  }
  const left = template.replaceAll(hole, "");
  return left.includes("{{") ? "a {{ is not closed, or has something other than a path in it" : undefined;
}

/** Fills in values: strings as they are, objects as JSON, missing ones as nothing. Inserted text is not expanded again. */
export function fill(
  template: string,
  values: { readonly body: unknown; readonly headers: unknown },
  most: number,
): string {
  const text = template.replaceAll(hole, (_, path: string) => textOf(at(values, path.split(".")), most));
  return text.length > most ? text.slice(0, most).toWellFormed() : text;
}

function at(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = Reflect.get(found, key);
  }
  return found;
}

function textOf(value: unknown, most: number): string {
  if (value === undefined || value === null) return "";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return text.slice(0, most);
}
