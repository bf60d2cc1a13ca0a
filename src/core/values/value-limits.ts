import { closeBrace, closeBracket, comma, endOfString, openBrace, openBracket, quote } from "./json-text.ts";

/** Limits for untrusted values: arguments, answers, results, metadata, bodies. */
export interface ValueLimits {
  /** Nesting of objects and arrays. */
  readonly depth: number;
  /** Number of values, including the root. */
  readonly nodes: number;
  /** Characters in strings and keys. */
  readonly size: number;
}

/** For one value from a model, a tool, a tool server or a caller. */
export const valueLimits: ValueLimits = { depth: 64, nodes: 100_000, size: 8 * 1024 * 1024 };

/** For one event of a provider's wire, including the vendor's envelope. Its size limit is `maxEvent`. */
export const frameLimits: ValueLimits = { depth: 128, nodes: 200_000, size: Number.POSITIVE_INFINITY };

/** For vendor-specific fields of an answer; larger ones are left out. */
export const answerLimits: ValueLimits = { depth: 64, nodes: 200_000, size: 8 * 1024 * 1024 };

/** For one stored event, which may hold several such values. */
export const recordLimits: ValueLimits = { depth: 96, nodes: 1_000_000, size: 64 * 1024 * 1024 };

/** For error details, which are copied wherever the error is reported. */
export const detailLimits: ValueLimits = { depth: 8, nodes: 1_000, size: 64 * 1024 };

/**
 * Why the value cannot be stored as JSON within the limits, as a phrase that ends a sentence; undefined if it can. Never throws, and
 * recurses no deeper than the limit: a cycle counts as too deep, a shared value counts each time it is reached.
 */
export function excessOf(value: unknown, limits: ValueLimits = valueLimits): string | undefined {
  try {
    return excess(value, 0, { limits, nodes: 0, size: 0 });
  } catch {
    return "cannot be read: a getter or toJSON of it throws"; // The walk may run the caller's getters.
  }
}

interface Walk {
  readonly limits: ValueLimits;
  nodes: number;
  size: number;
}

function excess(given: unknown, depth: number, walk: Walk): string | undefined {
  const { limits } = walk;
  const value = typeof given === "object" && given !== null ? plain(given) : given;
  walk.nodes += 1;
  if (walk.nodes > limits.nodes) return tooMany(limits.nodes);
  if (typeof value === "string") {
    walk.size += value.length;
    return walk.size > limits.size ? tooLarge(limits.size) : undefined;
  }
  if (typeof value === "bigint") return "holds a bigint, which JSON cannot represent";
  if (typeof value !== "object" || value === null) return undefined;
  if (depth >= limits.depth) return tooDeep(limits.depth);
  if (lengthOf(value) > limits.nodes - walk.nodes) return tooMany(limits.nodes);
  return Array.isArray(value) ? excessOfItems(value, depth + 1, walk) : excessOfFields(value, depth + 1, walk);
}

function excessOfItems(items: readonly unknown[], depth: number, walk: Walk): string | undefined {
  for (const item of items) {
    const found = excess(item, depth, walk);
    if (found !== undefined) return found;
  }
  return undefined;
}

function excessOfFields(value: object, depth: number, walk: Walk): string | undefined {
  // Unlike Object.keys, allocates no array: every event that is not just text passes here.
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    walk.size += key.length;
    const field = (value as Record<string, unknown>)[key]; // An own key.
    // Most fields are text or numbers: a call for each would be most of the walk.
    if (typeof field === "string" || typeof field === "number") {
      walk.nodes += 1;
      if (typeof field === "string") walk.size += field.length;
      if (walk.nodes > walk.limits.nodes) return tooMany(walk.limits.nodes);
    } else {
      const found = excess(field, depth, walk);
      if (found !== undefined) return found;
    }
  }
  return walk.size > walk.limits.size ? tooLarge(walk.limits.size) : undefined;
}

/** The value as JSON.stringify sees it. */
function plain(value: object): unknown {
  if (!("toJSON" in value)) return value;
  return typeof value.toJSON === "function" ? value.toJSON() : value;
}

/** Without listing the keys, which for a byte array would take more memory than its bytes. */
const lengthOf = (value: object): number =>
  Array.isArray(value) ? value.length : ArrayBuffer.isView(value) ? value.byteLength : 0;

/** The same check on JSON text, before it is parsed. */
export function excessOfJson(text: string, limits: ValueLimits = valueLimits): string | undefined {
  if (text.length > limits.size) return tooLarge(limits.size);
  // A level takes at least two characters and a value at least one, so short texts cannot exceed the limits.
  if (text.length < limits.depth * 2 && text.length < limits.nodes) return undefined;
  let depth = 0;
  let nodes = 1;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === quote) {
      at = endOfString(text, at) - 1;
    } else if (unit === openBrace || unit === openBracket) {
      nodes++;
      if (++depth > limits.depth) return tooDeep(limits.depth);
    } else if (unit === closeBrace || unit === closeBracket) depth--;
    else if (unit === comma && ++nodes > limits.nodes) return tooMany(limits.nodes);
  }
  return nodes > limits.nodes ? tooMany(limits.nodes) : undefined;
}

const tooDeep = (depth: number) => `is nested deeper than ${depth} levels`;
const tooMany = (nodes: number) => `holds more than ${nodes} values`;
const tooLarge = (size: number) => `is larger than ${size} characters`;
