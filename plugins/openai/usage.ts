import type { Usage } from "venturi/plugin";
import { asCount, asRecord } from "venturi/plugin/provider";

/** The counts of a `usage` object, under any vendor's names. Null and missing ones are left out. */
export function usageOf(value: unknown): Usage {
  const usage = asRecord(value);
  const input = asRecord(usage.prompt_tokens_details);
  const output = asRecord(usage.completion_tokens_details);
  const result: Usage = {};
  set(result, "inputTokens", usage.prompt_tokens);
  set(result, "outputTokens", usage.completion_tokens);
  set(
    result,
    "cacheReadTokens",
    input.cached_tokens ??
      usage.prompt_cache_hit_tokens ??
      usage.cached_tokens ??
      usage.cache_read_input_tokens ??
      usage.num_cached_tokens,
  );
  set(result, "cacheWriteTokens", input.cache_write_tokens ?? usage.cache_creation_input_tokens);
  set(result, "reasoningTokens", output.reasoning_tokens);
  setSome(result, "audioInputTokens", input.audio_tokens);
  setSome(result, "imageInputTokens", input.image_tokens);
  setSome(result, "audioOutputTokens", output.audio_tokens);
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
