import {
  argumentsText,
  type EventOf,
  type PendingCall,
  RoundTexts,
  type RunEvent,
  record,
  type Usage,
} from "venturi/plugin";
import { chatWire } from "./chat-content.ts";

export interface ChatRun {
  readonly run: string;
  readonly model: string;
  readonly includeUsage: boolean;
  /** The client sent `functions` and expects `function_call`. */
  readonly legacy: boolean;
  /** Names of the client's free-text tools. */
  readonly custom: ReadonlySet<string>;
}

/** What a non-streamed answer needs from the events besides the ending. */
export class ChatExtras {
  #reasoning = "";
  #refusal = "";
  readonly #annotations: unknown[] = [];
  readonly #logprobs: unknown[] = [];
  #fields: Record<string, unknown> = {};

  readonly #texts = new RoundTexts();

  readonly add = (event: RunEvent): void => {
    this.#texts.add(event);
    if (event.type === "reasoning.delta") this.#reasoning += event.text;
    else if (event.type === "refusal.delta") this.#refusal += event.text;
    else if (event.type === "round.retracted") this.#reset();
    else if (event.type === "provider.activity") this.#activity(event);
  };

  /** The fields of the message. */
  get message(): Record<string, unknown> {
    return {
      refusal: this.#refusal === "" ? null : this.#refusal,
      ...(this.#reasoning === "" ? {} : { reasoning_content: this.#reasoning }),
      ...(this.#annotations.length === 0 ? {} : { annotations: this.#annotations }),
      ...this.#fields,
    };
  }

  get said(): string {
    return this.#texts.text;
  }

  get logprobs(): unknown {
    return this.#logprobs.length === 0 ? null : { content: this.#logprobs, refusal: null };
  }

  #activity(event: EventOf<"provider.activity">): void {
    const { delta, logprobs } = ownWords(event);
    if (logprobs !== undefined) this.#logprobs.push(...((record(logprobs).content as unknown[] | null) ?? [])); // a list, by the API
    const { annotations, ...rest } = delta ?? {};
    if (Array.isArray(annotations)) this.#annotations.push(...annotations);
    this.#fields = { ...this.#fields, ...rest };
  }

  #reset(): void {
    this.#reasoning = "";
    this.#refusal = "";
    this.#annotations.length = 0;
    this.#logprobs.length = 0;
    this.#fields = {};
  }
}

export function chatCompletion(
  chat: ChatRun,
  event: EventOf<"run.finished">,
  extras: ChatExtras,
): Record<string, unknown> {
  const { said, message } = extras;
  const content = said === "" && (event.calls?.length || message.refusal !== null) ? null : said;
  return {
    id: `chatcmpl-${chat.run}`,
    object: "chat.completion",
    created: seconds(),
    model: chat.model,
    choices: [
      {
        index: 0,
        message: { role: "assistant", content, ...message, ...callsOf(event.calls ?? [], chat) },
        logprobs: extras.logprobs,
        finish_reason: finishReason(event, chat),
      },
    ],
    usage: chatUsage(event.usage),
  };
}

function callsOf(calls: readonly PendingCall[], chat: ChatRun): Record<string, unknown> {
  const [first] = calls;
  if (first === undefined) return {};
  return chat.legacy ? { function_call: functionOf(first) } : { tool_calls: calls.map((call) => toolCall(call, chat)) };
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
  if (finish === "length" || finish === "content_filter") return finish;
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

export const seconds = (): number => Math.floor(Date.now() / 1000);

/** Output of a same-wire provider beyond text and calls: sources, audio, log probabilities. */
export function ownWords({ wire, kind, data }: EventOf<"provider.activity">): {
  delta?: Record<string, unknown>;
  logprobs?: unknown;
} {
  if (wire !== chatWire) return {};
  const said = record(data);
  if (kind === "citation") return said.type === undefined ? { delta: said } : { delta: { annotations: [said] } };
  if (said.logprobs !== undefined) return { logprobs: said.logprobs };
  return said.audio === undefined ? {} : { delta: said };
}
