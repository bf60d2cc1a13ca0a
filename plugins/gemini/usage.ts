import type { Usage } from "venturi/plugin";
import { asCount, asRecord } from "venturi/plugin/provider";

/** Google counts thoughts and tool prompts separately; output and input are the sums. */
export function usageOf(figures: unknown, source: "reported" | "partial"): Usage {
  const from = asRecord(figures);
  const usage: Usage = { source };
  const prompt = asCount(from.promptTokenCount);
  const answer = asCount(from.candidatesTokenCount) ?? asCount(from.responseTokenCount);
  const thoughts = asCount(from.thoughtsTokenCount);
  const cached = asCount(from.cachedContentTokenCount);
  if (prompt !== undefined) usage.inputTokens = prompt + (asCount(from.toolUsePromptTokenCount) ?? 0);
  if (answer !== undefined || thoughts !== undefined) usage.outputTokens = (answer ?? 0) + (thoughts ?? 0);
  if (thoughts !== undefined) usage.reasoningTokens = thoughts;
  if (cached !== undefined) usage.cacheReadTokens = cached;
  const audio = ofModality(from.promptTokensDetails, "AUDIO");
  const images = ofModality(from.promptTokensDetails, "IMAGE");
  const spoken = ofModality(from.candidatesTokensDetails, "AUDIO");
  if (audio) usage.audioInputTokens = audio;
  if (images) usage.imageInputTokens = images;
  if (spoken) usage.audioOutputTokens = spoken;
  return usage;
}

const ofModality = (details: unknown, modality: string): number | undefined =>
  Array.isArray(details)
    ? asCount(asRecord(details.find((each) => asRecord(each).modality === modality)).tokenCount)
    : undefined;
