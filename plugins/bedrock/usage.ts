import type { Usage } from "venturi/plugin";
import { asCount, asList, asRecord } from "venturi/plugin/provider";

/** Bedrock counts cached input apart from `inputTokens`; Venturi's is everything the model read. */
export function usageOf(figures: unknown): Usage {
  const from = asRecord(figures);
  const usage: Usage = { source: "reported" };
  const input = asCount(from.inputTokens);
  const read = asCount(from.cacheReadInputTokens);
  const written = asCount(from.cacheWriteInputTokens);
  const output = asCount(from.outputTokens);
  if (input !== undefined) usage.inputTokens = input + (read ?? 0) + (written ?? 0);
  if (read !== undefined) usage.cacheReadTokens = read;
  if (written !== undefined) usage.cacheWriteTokens = written;
  const hour = asList(from.cacheDetails).find((each) => asRecord(each).ttl === "1h");
  const writtenHour = asCount(asRecord(hour).inputTokens);
  // A zero is left out: most prompts are kept for five minutes.
  if (writtenHour) usage.cacheWrite1hTokens = writtenHour;
  if (output !== undefined) usage.outputTokens = output;
  return usage;
}
