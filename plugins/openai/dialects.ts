import { isIP } from "node:net";

/** Relevant differences between Chat Completions servers. */
export interface Dialect {
  /** Name of the output token limit. Servers silently ignore the one they do not know. */
  readonly maxTokens: "max_completion_tokens" | "max_tokens";
  /** Accepts `prompt_cache_key`; some servers reject unknown fields. */
  readonly cacheKey: boolean;
  /** Accepts only call ids of nine letters and digits. */
  readonly shortIds?: boolean;
  /** Default first-chunk timeout, ms: local servers load the model on first use. */
  readonly firstChunk?: number;
}

const local: Dialect = { maxTokens: "max_tokens", cacheKey: false, firstChunk: 300_000 };

export const dialects = {
  openai: { maxTokens: "max_completion_tokens", cacheKey: true },
  compatible: { maxTokens: "max_completion_tokens", cacheKey: false },
  deepseek: { maxTokens: "max_tokens", cacheKey: false },
  mistral: { maxTokens: "max_tokens", cacheKey: false, shortIds: true },
  "llama.cpp": local,
  lmstudio: local,
  ollama: local,
  transformers: local,
  vllm: local,
} satisfies Record<string, Dialect>;
export type DialectName = keyof typeof dialects;

export const dialectNames = Object.keys(dialects) as [DialectName, ...DialectName[]]; // The keys are the names.

/** By host: known vendors, and anything on this machine or its private network. */
export function dialectOf(name: DialectName | "auto", baseUrl: string): Dialect {
  if (name !== "auto") return dialects[name];
  const { hostname } = new URL(baseUrl);
  const vendor = vendors.find(([pattern]) => pattern.test(hostname));
  if (vendor !== undefined) return dialects[vendor[1]];
  return isNear(hostname) ? local : dialects.compatible;
}

const vendors: readonly [RegExp, DialectName][] = [
  [/(^|\.)openai\.com$|\.openai\.azure\.com$|\.cognitiveservices\.azure\.com$/, "openai"],
  [/(^|\.)deepseek\.com$/, "deepseek"],
  [/(^|\.)mistral\.ai$/, "mistral"],
];

/** Loopback, private addresses, and names without a domain, as containers have. */
function isNear(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) === 4) return /^(127|10|192\.168|172\.(1[6-9]|2\d|3[01])|169\.254)\./.test(host);
  if (isIP(host) === 6) return host === "::1" || /^f[cd]/i.test(host);
  return !host.includes(".") || /\.(local|localhost|internal|lan)$/.test(host);
}
