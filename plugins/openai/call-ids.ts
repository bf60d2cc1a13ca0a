import { createHash } from "node:crypto";
import type { OpenAiOptions } from "./options.ts";

export type IdOf = (call: string) => string;

/** OpenAI refuses longer ones. */
const longest = 40;

/**
 * How calls are called in a request. A conversation may hold ids of other vendors or of this run's own making; the same id
 * always becomes the same one, so that a call and its result still find each other.
 */
export function callIds({ callIds, baseUrl }: OpenAiOptions): IdOf {
  const short = callIds === "short" || (callIds === undefined && /(^|\.)mistral\.ai$/.test(new URL(baseUrl).hostname));
  if (short) return (call) => (/^[a-zA-Z0-9]{9}$/.test(call) ? call : hashed(call, 9));
  return (call) => (call.length <= longest ? call : hashed(call, 24));
}

const hashed = (call: string, length: number): string =>
  createHash("sha256").update(call).digest("hex").slice(0, length);
