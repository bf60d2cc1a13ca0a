import type { Literal } from "./collect.ts";

// The JavaScript build of recheck: the others need Java, or are not there for every machine. It looks when it is loaded.
process.env.RECHECK_SYNC_BACKEND = "pure";
const { checkSync } = await import("recheck");

/**
 * What recheck's automaton says: "linear" is a proof, for every text. Others are polynomial, exponential, or undecided (too large, or
 * with lookaround).
 */
export function prove({ source, flags }: Literal, timeout: number): string {
  const found = checkSync(source, flags, { checker: "automaton", timeout });
  if (found.status === "vulnerable") return found.complexity.summary;
  return found.status === "safe" ? "linear" : "undecided";
}
