import { isIP } from "node:net";

/** How servers that speak Chat Completions differ where it matters. */
export interface Dialect {
  /** The name of the limit of output tokens. Servers ignore the one they do not know, and with it the limit. */
  readonly maxTokens: "max_completion_tokens" | "max_tokens";
  /** Takes `prompt_cache_key`; some others refuse what they do not know. */
  readonly cacheKey: boolean;
  /** How long the first chunk may take when the config does not say, ms: local servers load the model when it is asked. */
  readonly firstChunk?: number;
}

const local: Dialect = { maxTokens: "max_tokens", cacheKey: false, firstChunk: 300_000 };

export const dialects = {
  openai: { maxTokens: "max_completion_tokens", cacheKey: true },
  compatible: { maxTokens: "max_completion_tokens", cacheKey: false },
  deepseek: { maxTokens: "max_tokens", cacheKey: false },
  mistral: { maxTokens: "max_tokens", cacheKey: false },
  "llama.cpp": local,
  lmstudio: local,
  ollama: local,
  transformers: local,
  vllm: local,
} satisfies Record<string, Dialect>;
export type DialectName = keyof typeof dialects;

export const dialectNames = Object.keys(dialects) as [DialectName, ...DialectName[]]; // the keys are the names

/** By the host: the vendors that are known, and whatever runs on this machine or in its private network. */
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

/** Loopback, private addresses, and names without a domain, as containers have them. */
function isNear(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) === 4) return /^(127|10|192\.168|172\.(1[6-9]|2\d|3[01])|169\.254)\./.test(host);
  if (isIP(host) === 6) return host === "::1" || /^f[cd]/i.test(host);
  return !host.includes(".") || /\.(local|localhost|internal|lan)$/.test(host);
}
