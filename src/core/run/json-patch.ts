import { VenturiError } from "../errors/errors.ts";
import type { PatchOperation } from "./memory-events.ts";

/**
 * Applies a JSON Patch (RFC 6902) to a copy of the value. All operations apply, or it throws `invalid_input` with the first that fails.
 * Linear in value and patch.
 */
export function applyPatch(value: unknown, patch: readonly PatchOperation[]): unknown {
  let root = structuredClone(value);
  for (const [index, operation] of patch.entries()) {
    try {
      root = applied(root, operation);
    } catch (thrown) {
      if (!(thrown instanceof Misfit)) throw thrown;
      const message = `patch[${index}] (${operation.op} ${operation.path}): ${thrown.message}`;
      throw new VenturiError("memory.patch", "invalid_input", message, { details: { operation: index } });
    }
  }
  return root;
}

class Misfit extends Error {}

function applied(root: unknown, { op, path, from, value }: PatchOperation): unknown {
  switch (op) {
    case "add":
      return put(root, path, "add", given(value));
    case "replace":
      at(root, path);
      return put(root, path, "replace", given(value));
    case "remove":
      return removed(root, path);
    case "test":
      if (!same(at(root, path), value)) throw new Misfit("the value is another one");
      return root;
    case "copy":
      return put(root, path, "add", structuredClone(at(root, source(from))));
    case "move": {
      const moved = at(root, source(from));
      if (path.startsWith(`${from}/`)) throw new Misfit("a value cannot be moved into itself");
      return put(removed(root, source(from)), path, "add", moved);
    }
  }
}

function given(value: unknown): unknown {
  if (value === undefined) throw new Misfit("it has no value");
  return structuredClone(value);
}

function source(from: string | undefined): string {
  if (from === undefined) throw new Misfit("it has no from");
  return from;
}

/** The decoded steps of a JSON Pointer. */
function steps(pointer: string): string[] {
  if (pointer === "") return [];
  if (!pointer.startsWith("/")) throw new Misfit('a path is "" or begins with /');
  return pointer
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function at(root: unknown, pointer: string): unknown {
  let found = root;
  for (const step of steps(pointer)) {
    const inside = Array.isArray(found)
      ? isIndex(step, found.length - 1)
      : isRecord(found) && Object.hasOwn(found, step);
    if (!inside) throw new Misfit(`there is nothing at ${pointer}`);
    found = (found as Record<string, unknown>)[step]; // Checked just before.
  }
  return found;
}

function put(root: unknown, pointer: string, how: "add" | "replace", value: unknown): unknown {
  const all = steps(pointer);
  const last = all.pop();
  if (last === undefined) return value;
  const parent = at(root, parentOf(pointer));
  if (Array.isArray(parent)) {
    if (how === "add" && last === "-") parent.push(value);
    else if (!isIndex(last, how === "add" ? parent.length : parent.length - 1))
      throw new Misfit("no such place in the array");
    else if (how === "add") parent.splice(Number(last), 0, value);
    else parent[Number(last)] = value;
  } else if (isRecord(parent)) {
    // An assignment to __proto__ would set the prototype.
    Object.defineProperty(parent, last, { value, writable: true, enumerable: true, configurable: true });
  } else throw new Misfit(`there is no object or array at ${parentOf(pointer) || "the root"}`);
  return root;
}

function removed(root: unknown, pointer: string): unknown {
  at(root, pointer);
  const last = steps(pointer).pop();
  if (last === undefined) return null;
  const parent = at(root, parentOf(pointer));
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete (parent as Record<string, unknown>)[last]; // `at` found a value in it.
  return root;
}

const parentOf = (pointer: string): string => pointer.slice(0, pointer.lastIndexOf("/"));

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Without leading zeros, as the RFC requires. */
const isIndex = (step: string, most: number): boolean =>
  String(Number(step)) === step && Number.isInteger(Number(step)) && Number(step) >= 0 && Number(step) <= most;

function same(left: unknown, right: unknown): boolean {
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((item, index) => same(item, right[index]));
  if (!isRecord(left) || !isRecord(right)) return left === right;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && same(left[key], right[key]))
  );
}
