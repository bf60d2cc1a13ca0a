import { atPointer } from "venturi/internal";
import { VenturiError } from "venturi/plugin";

const deepest = 64;
const most = 20_000;

/**
 * A copy with every `$ref` inlined. A recursive one becomes "anything". A document whose references multiply exponentially is
 * rejected before it exhausts memory.
 */
export function deref(document: Readonly<Record<string, unknown>>, value: unknown): unknown {
  return new Copy(document).of(value, []);
}

/** Resolves a reference, not looking inside; anything else is returned as it is. */
export function named(document: Readonly<Record<string, unknown>>, value: unknown): unknown {
  let found = value;
  for (let hops = 0; hops < deepest && isReference(found); hops++) found = lookUp(document, found.$ref);
  return found;
}

const isReference = (value: unknown): value is { readonly $ref: string } =>
  typeof value === "object" && value !== null && "$ref" in value && typeof value.$ref === "string";

class Copy {
  readonly #document: Readonly<Record<string, unknown>>;
  #left = most;

  constructor(document: Readonly<Record<string, unknown>>) {
    this.#document = document;
  }

  of(value: unknown, path: readonly string[], depth = 0): unknown {
    if (--this.#left < 0 || depth > deepest * 4) throw invalid(`an operation has more than ${most} values`);
    if (Array.isArray(value)) return value.map((item) => this.of(item, path, depth + 1));
    if (typeof value !== "object" || value === null) return value;
    if (isReference(value)) {
      const reference = value.$ref;
      if (path.includes(reference) || path.length > deepest) return {};
      return this.of(lookUp(this.#document, reference), [...path, reference], depth + 1);
    }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.of(item, path, depth + 1)]));
  }
}

function lookUp(document: Readonly<Record<string, unknown>>, reference: string): unknown {
  const found = reference.startsWith("#/") ? atPointer(document, reference.slice(1)) : undefined;
  if (found === undefined) throw invalid(`the reference ${reference} names nothing in the document`);
  return found;
}

const invalid = (message: string) => new VenturiError("tool.create", "config_invalid", message);
