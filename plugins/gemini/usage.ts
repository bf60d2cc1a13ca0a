import { count, record, type Usage } from "venturi/plugin";

/** Google counts thoughts and tool prompts separately; output and input are the sums. */
export function usageOf(figures: unknown, source: "reported" | "partial"): Usage {
  const from = record(figures);
  const usage: Usage = { source };
  const prompt = count(from.promptTokenCount);
  const answer = count(from.candidatesTokenCount) ?? count(from.responseTokenCount);
  const thoughts = count(from.thoughtsTokenCount);
  const cached = count(from.cachedContentTokenCount);
  if (prompt !== undefined) usage.inputTokens = prompt + (count(from.toolUsePromptTokenCount) ?? 0);
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
    ? count(record(details.find((each) => record(each).modality === modality)).tokenCount)
    : undefined;
