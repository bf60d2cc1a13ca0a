/** Approximate memory of a value once loaded: characters of all its texts, and bytes of the blobs it refers to (`hash` and `size`). */
export function valueSize(value: unknown): number {
  let size = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "string") size += next.length;
    else if (typeof next !== "object" || next === null) size += 8;
    else {
      const fields = next as Record<string, unknown>; // Array indexes are keys too.
      for (const name of Object.keys(fields)) open.push(fields[name]);
      if (typeof fields.hash === "string" && typeof fields.size === "number") size += fields.size;
    }
  }
  return size;
}
