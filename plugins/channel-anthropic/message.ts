import { isCutShort, withCost } from "venturi/internal";
import type { EventOf, NativeAnswer, Usage, VendorAnswer } from "venturi/plugin";
import { messagesWire } from "./blocks.ts";
import { idOf } from "./threads.ts";

export interface MessageRun {
  readonly run: string;
  readonly model: string;
}

const messageBody = ({ run, model }: MessageRun): Record<string, unknown> => ({
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

type Fields = Readonly<Record<string, unknown>>;

/** Vendor fields that belong into the message's last event; all others go into the first. */
const atTheEnd: ReadonlySet<string> = new Set(["stop_sequence", "stop_details", "container", "context_management"]);
/** Fields next to the last event's `delta`, and the prefix of vendor fields there. */
const besideDelta: ReadonlySet<string> = new Set(["context_management"]);
const beside = "message_delta.";

/** The beginning of the message, with the vendor's fields so far. */
export function messageStart(message: MessageRun, { usage = usageOf({}), ...fields }: Fields): Fields {
  const first = Object.entries(fields).filter(([name]) => !atTheEnd.has(name) && !name.startsWith(beside));
  return { ...messageBody(message), ...Object.fromEntries(first), usage };
}

/** The vendor's fields of an element, if its wire is this one. */
export const ownFields = (native: NativeAnswer | undefined): Fields | undefined =>
  native?.wire === messagesWire ? native.fields : undefined;

/** The vendor's fields of a whole message. */
export const messageFields = ({ usage: _, ...fields }: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name.replace(beside, ""), value]));

/** The vendor's fields for the last event that the first one did not contain: within `delta`, and next to it. */
export function endFields({ usage: _, ...fields }: Fields, told: Fields): { delta: Fields; event: Fields } {
  const delta: Record<string, unknown> = {};
  const event: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (name.startsWith(beside)) event[name.slice(beside.length)] = value;
    else if (besideDelta.has(name)) event[name] = value;
    else if (told[name] !== value) delta[name] = value;
  }
  return { delta, event };
}

export interface MessageEnd {
  readonly delta: Record<string, unknown>;
  readonly usage: Fields;
  /** Refusal text, for which the API has no other place. */
  readonly said: string;
}

/** The end of a message. `raw`: the vendor's stop reason; `refusal`: the model's text in place of an answer. */
export function messageEnd(
  event: EventOf<"run.finished">,
  { raw, refusal, vendor }: { raw: string | undefined; refusal: string; vendor: VendorAnswer },
): MessageEnd {
  const stop_reason = stopReason(event, raw);
  const explained = refusal !== "" && (stop_reason === "refusal" || vendor.fields.stop_details !== undefined);
  const stop_details = explained ? { type: "refusal", category: null, explanation: refusal } : null;
  return {
    delta: { stop_reason, stop_sequence: null, stop_details },
    usage: withCost(vendor.usage(usageOf(event.usage), event.usage), event),
    said: explained ? "" : refusal,
  };
}

function stopReason({ finish, calls }: EventOf<"run.finished">, raw: string | undefined): string {
  if (raw === "model_context_window_exceeded") return raw;
  if (isCutShort(finish)) return "max_tokens";
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
