/** The value at a JSON Pointer (RFC 6901), possibly percent-encoded as in a `$ref` fragment; undefined if there is none. */
export function atPointer(value: unknown, pointer: string): unknown {
  let found: unknown = value;
  for (const token of pointer.split("/").slice(1)) {
    const key = decoded(token).replaceAll("~1", "/").replaceAll("~0", "~");
    const inside = typeof found === "object" && found !== null && Object.hasOwn(found, key);
    if (!inside) return undefined;
    found = (found as Record<string, unknown>)[key]; // Checked just before.
  }
  return found;
}

function decoded(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    return token;
  }
}
