import { VenturiError } from "venturi/plugin";

type Values = Readonly<Record<string, unknown>>;
const placeholder = /\{([A-Za-z_][\w-]*)\}/g;

/** Names of the parameters used in a template, at any depth. */
export const placeholdersIn = (template: unknown): string[] =>
  [...(JSON.stringify(template) ?? "").matchAll(placeholder)].map((match) => match[1] ?? "");

/** Fills the placeholders of a URL: each value is one segment of the path or query, whatever it contains. */
export function fillUrl(template: string, values: Values): string {
  const filled = template.replace(placeholder, (_, name: string) => encodeURIComponent(textOf(values[name], name)));
  const [path = ""] = filled.split(/[?#]/, 1);
  // Dots are not percent-encoded, and "/../" would resolve to another path.
  if (path.split("/").some((segment) => segment === "." || segment === "..")) {
    throw new VenturiError("tool.call", "tool_denied", "a parameter may not be a step to another path (. or ..)");
  }
  if (!URL.canParse(filled)) {
    throw new VenturiError("tool.call", "tool_invalid_arguments", "the parameters do not form a valid URL");
  }
  return filled;
}

/** Adds query values literally: a brace in them is not a placeholder. A list adds one pair per item. */
export function withQuery(address: string, values: Values): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) continue;
    for (const item of Array.isArray(value) ? value : [value]) url.searchParams.append(name, textOf(item, name));
  }
  return url.href;
}

export const fillText = (template: string, values: Values): string =>
  template.replace(placeholder, (_, name: string) => textOf(values[name], name));

/** In a body, a string that is just a placeholder becomes the value itself; omitted values stay absent. */
export function fillValue(template: unknown, values: Values): unknown {
  if (typeof template === "string") {
    const [, whole] = /^\{([A-Za-z_][\w-]*)\}$/.exec(template) ?? [];
    return whole === undefined ? fillText(template, values) : values[whole];
  }
  if (Array.isArray(template)) return template.map((item) => fillValue(item, values));
  if (typeof template !== "object" || template === null) return template;
  return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, fillValue(value, values)]));
}

function textOf(value: unknown, name: string): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) {
    throw new VenturiError("tool.call", "tool_invalid_arguments", `the parameter "${name}" is needed here`);
  }
  return JSON.stringify(value);
}
