import type { Usage } from "venturi/plugin";
import { asCount, asRecord } from "venturi/plugin/provider";

export function usageOf(value: unknown): Usage | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const usage = asRecord(value);
  const input = asRecord(usage.input_tokens_details);
  const result: Usage = {};
  set(result, "inputTokens", usage.input_tokens);
  set(result, "outputTokens", usage.output_tokens);
  set(result, "cacheReadTokens", input.cached_tokens);
  set(result, "cacheWriteTokens", input.cache_write_tokens ?? input.cache_creation_tokens);
  set(result, "reasoningTokens", asRecord(usage.output_tokens_details).reasoning_tokens);
  setSome(result, "audioInputTokens", input.audio_tokens);
  setSome(result, "imageInputTokens", input.image_tokens);
  setSome(result, "audioOutputTokens", asRecord(usage.output_tokens_details).audio_tokens);
  return result;
}

function set(usage: Usage, key: Exclude<keyof Usage, "source">, value: unknown): void {
  const known = asCount(value);
  if (known !== undefined) usage[key] = known;
}

/** Ignores zero, which vendors write for figures that do not apply. */
function setSome(usage: Usage, key: Exclude<keyof Usage, "source">, value: unknown): void {
  if (value !== 0) set(usage, key, value);
}
