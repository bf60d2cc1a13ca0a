import { isCutShort, RoundTexts, withCost } from "venturi/internal";
import type { EventOf, PendingCall, RunEvent, Usage } from "venturi/plugin";
import { argumentsText } from "venturi/plugin/provider";
import { ChatVendor, reasoningField, withFields } from "./chat-vendor.ts";
import { createdOf } from "./created.ts";

export interface ChatRun {
  readonly run: string;
  readonly model: string;
  readonly includeUsage: boolean;
  /** The client sent `functions` and expects `function_call`. */
  readonly legacy: boolean;
  /** Names of the client's free-text tools. */
  readonly custom: ReadonlySet<string>;
}

/** What a non-streamed answer needs from the events besides the end. */
export class ChatExtras {
  readonly vendor = new ChatVendor();
  #reasoning = "";
  #reasoningField = "reasoning_content";
  #refusal = "";
  /** As they were before the round. */
  #before = { reasoning: "", refusal: "" };
  readonly #texts = new RoundTexts();

  readonly add = (event: RunEvent): void => {
    this.#texts.add(event);
    this.vendor.add(event);
    if (event.type === "round.started") this.#before = { reasoning: this.#reasoning, refusal: this.#refusal };
    else if (event.type === "reasoning.delta") {
      this.#reasoning += event.text;
      this.#reasoningField = reasoningField(event) ?? this.#reasoningField;
    } else if (event.type === "refusal.delta") this.#refusal += event.text;
    else if (event.type === "round.retracted") {
      this.#reasoning = this.#before.reasoning;
      this.#refusal = this.#before.refusal;
    }
  };

  /** Fields of the message. */
  get message(): Record<string, unknown> {
    return {
      refusal: this.#refusal === "" ? null : this.#refusal,
      ...(this.#reasoning === "" ? {} : { [this.#reasoningField]: this.#reasoning }),
      ...this.vendor.message,
    };
  }

  get said(): string {
    return this.#texts.text;
  }
}

export function chatCompletion(
  chat: ChatRun,
  event: EventOf<"run.finished">,
  extras: ChatExtras,
): Record<string, unknown> {
  const { said, message, vendor } = extras;
  const content = said === "" && (event.calls?.length || message.refusal !== null) ? null : said;
  return {
    id: `chatcmpl-${chat.run}`,
    object: "chat.completion",
    created: createdOf(chat.run, Date.now()),
    model: chat.model,
    ...vendor.answer.fields,
    choices: [
      {
        index: 0,
        message: { role: "assistant", content, ...message, ...callsOf(event.calls ?? [], chat, vendor) },
        logprobs: null,
        ...vendor.choice,
        finish_reason: finishReason(event, chat),
      },
    ],
    usage: withCost(vendor.answer.usage(chatUsage(event.usage), event.usage), event),
  };
}

function callsOf(calls: readonly PendingCall[], chat: ChatRun, vendor: ChatVendor): Record<string, unknown> {
  const [first] = calls;
  if (first === undefined) return {};
  if (chat.legacy) return { function_call: functionOf(first) };
  return { tool_calls: calls.map((call) => withFields(toolCall(call, chat), vendor.calls.get(call.call))) };
}

export function toolCall(call: PendingCall, { custom }: ChatRun): Record<string, unknown> {
  if (!custom.has(call.name)) return { id: call.call, type: "function", function: functionOf(call) };
  return { id: call.call, type: "custom", custom: { name: call.name, input: String(call.arguments.input ?? "") } };
}

export const functionOf = (call: PendingCall) => ({
  name: call.name,
  arguments: argumentsText(call),
});

export function finishReason({ finish, calls }: EventOf<"run.finished">, { legacy }: ChatRun): string {
  if (finish === "content_filter") return finish;
  if (isCutShort(finish)) return "length";
  if (calls?.length) return legacy ? "function_call" : "tool_calls";
  return "stop";
}

export function chatUsage(usage: Usage): Record<string, unknown> {
  const input = usage.inputTokens ?? 0;
  const output = usage.outputTokens ?? 0;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens ?? 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
  };
}
