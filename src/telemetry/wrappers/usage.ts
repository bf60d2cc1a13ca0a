import type { Attributes } from "@opentelemetry/api";
import type { Usage } from "../../core/model/usage.ts";
import { attributes } from "../base/names.ts";

const keys = [
  ["inputTokens", attributes.inputTokens],
  ["outputTokens", attributes.outputTokens],
  ["cacheReadTokens", attributes.cacheReadTokens],
  ["cacheWriteTokens", attributes.cacheWriteTokens],
  ["reasoningTokens", attributes.reasoningTokens],
] as const;

/** Reported usage under the conventions' names. */
export function usageAttributes(usage: Usage | undefined): Attributes {
  const known: Attributes = {};
  for (const [field, key] of keys) {
    const tokens = usage?.[field];
    if (tokens !== undefined) known[key] = tokens;
  }
  return known;
}
