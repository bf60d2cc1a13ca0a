import { createHash } from "node:crypto";
import type { Dialect } from "./dialects.ts";
import type { OpenAiOptions } from "./options.ts";

export type IdOf = (call: string) => string;

/** OpenAI rejects longer ids. */
const longest = 40;

/**
 * Maps call ids for a request. A conversation may hold ids of other vendors or generated ones; the mapping is deterministic, so
 * that calls and results still match.
 */
export function callIds({ callIds }: OpenAiOptions, { shortIds }: Dialect): IdOf {
  if (callIds === "short" || (callIds === undefined && shortIds))
    return (call) => (/^[a-zA-Z0-9]{9}$/.test(call) ? call : hashed(call, 9));
  return (call) => (call.length <= longest ? call : hashed(call, 24));
}

const hashed = (call: string, length: number): string =>
  createHash("sha256").update(call).digest("hex").slice(0, length);
