import { VenturiError } from "venturi/plugin";

const deepest = 64;

/** A copy without `$ref`: each is replaced by what it names in the document. One that names itself becomes "anything". */
export function deref(
  document: Readonly<Record<string, unknown>>,
  value: unknown,
  path: readonly string[] = [],
): unknown {
  if (Array.isArray(value)) return value.map((item) => deref(document, item, path));
  if (typeof value !== "object" || value === null) return value;
  if ("$ref" in value && typeof value.$ref === "string") {
    const reference = value.$ref;
    if (path.includes(reference) || path.length > deepest) return {};
    return deref(document, lookUp(document, reference), [...path, reference]);
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, deref(document, item, path)]));
}

function lookUp(document: Readonly<Record<string, unknown>>, reference: string): unknown {
  let found: unknown = reference.startsWith("#/") ? document : undefined;
  for (const part of reference.slice(2).split("/")) {
    const key = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    const inside = typeof found === "object" && found !== null && Object.hasOwn(found, key);
    found = inside ? (found as Record<string, unknown>)[key] : undefined; // looked at just before
  }
  if (found === undefined) {
    throw new VenturiError("tool.create", "config_invalid", `the reference ${reference} names nothing in the document`);
  }
  return found;
}
