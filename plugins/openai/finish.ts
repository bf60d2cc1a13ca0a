import type { FinishReason } from "venturi/plugin";

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ["stop", "stop"],
  ["eos", "stop"], // Together, older builds
  ["eos_token", "stop"],
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["complete", "stop"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["model_length", "length"], // Mistral
  ["insufficient_system_resource", "other"], // DeepSeek
  ["tool_calls", "tool_calls"],
  ["tool_use", "tool_calls"],
  ["function_call", "tool_calls"],
  ["content_filter", "content_filter"],
  ["safety", "content_filter"],
  ["refusal", "refusal"],
]);

export const finishOf = (raw: string): FinishReason => reasons.get(raw.toLowerCase()) ?? "other";

/** Servers may send several, different finish reasons: one that indicates missing output wins. */
export function strongerFinish(earlier: string | undefined, later: string): string {
  if (earlier === undefined) return later;
  const cut = finishOf(later) === "length" || finishOf(later) === "content_filter";
  return cut ? later : earlier;
}
