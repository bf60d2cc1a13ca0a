import type { EventOf, Usage } from "venturi/plugin";
import { idOf } from "./threads.ts";

export interface MessageRun {
  readonly run: string;
  readonly model: string;
}

export const messageBody = ({ run, model }: MessageRun): Record<string, unknown> => ({
  id: idOf(run),
  type: "message",
  role: "assistant",
  model,
  content: [],
  container: null,
  stop_reason: null,
  stop_sequence: null,
  stop_details: null,
});

export interface MessageEnd {
  readonly delta: Record<string, unknown>;
  readonly usage: Record<string, unknown>;
  /** Refusal text, which has no other place in the API. */
  readonly said: string;
}

/** How a message ends. `raw` is the vendor's stop reason, `refusal` the model's text in place of an answer. */
export function messageEnd(
  event: EventOf<"run.finished">,
  { raw, refusal }: { raw: string | undefined; refusal: string },
): MessageEnd {
  const stop_reason = stopReason(event, raw);
  const explained = stop_reason === "refusal" && refusal !== "";
  const stop_details = explained ? { type: "refusal", category: null, explanation: refusal } : null;
  return {
    delta: { stop_reason, stop_sequence: null, stop_details },
    usage: usageOf(event.usage),
    said: explained ? "" : refusal,
  };
}

function stopReason({ finish, calls }: EventOf<"run.finished">, raw: string | undefined): string {
  if (raw === "model_context_window_exceeded") return raw;
  if (finish === "length") return "max_tokens";
  if (calls?.length) return "tool_use";
  if (finish === "refusal" || finish === "content_filter") return "refusal";
  return raw === "stop_sequence" ? raw : "end_turn";
}

export const usageOf = (usage: Usage): Record<string, unknown> => ({
  // Anthropic counts cached input separately.
  input_tokens: Math.max(0, (usage.inputTokens ?? 0) - (usage.cacheReadTokens ?? 0) - (usage.cacheWriteTokens ?? 0)),
  output_tokens: usage.outputTokens ?? 0,
  cache_read_input_tokens: usage.cacheReadTokens ?? 0,
  cache_creation_input_tokens: usage.cacheWriteTokens ?? 0,
});
