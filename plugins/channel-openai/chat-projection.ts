import { dataFrame, type EventOf, Paragraphs, type PendingCall, type RunEvent } from "venturi/plugin";
import { type ChatRun, chatUsage, finishReason, functionOf, ownWords, seconds, toolCall } from "./chat-completion.ts";
import { errorFrame } from "./errors.ts";

/**
 * A run as chat completion chunks. Tools that run here are not shown, because clients execute every tool call themselves;
 * arguments of client tools are streamed as they arrive.
 */
export function chatProjection(chat: ChatRun): (event: RunEvent) => string {
  const head = headOf(chat);
  const frame = (delta: Record<string, unknown>, finish: string | null = null, logprobs: unknown = null): string =>
    dataFrame({ ...head, choices: [{ index: 0, delta, logprobs, finish_reason: finish }] });
  // Serialised once up to the text: a stream has thousands of this frame.
  const before = frame({ content: "" }).slice(0, -'""},"logprobs":null,"finish_reason":null}]}\n\n'.length);
  const after = '},"logprobs":null,"finish_reason":null}]}\n\n';
  const calls = new CallDeltas(chat);
  const paragraphs = new Paragraphs();
  return (event) => {
    switch (event.type) {
      case "run.started":
        return frame({ role: "assistant", content: "" });
      case "text.delta": {
        const text = event.round === paragraphs.round ? event.text : paragraphs.begin(event.round) + event.text;
        return before + JSON.stringify(text) + after;
      }
      case "round.finished":
        paragraphs.note(event);
        return "";
      case "refusal.delta":
        return frame({ refusal: event.text });
      case "reasoning.delta":
        return event.text === "" ? "" : frame({ reasoning_content: event.text });
      case "provider.activity": {
        const { delta, logprobs } = ownWords(event);
        return delta === undefined && logprobs === undefined ? "" : frame(delta ?? {}, null, logprobs ?? null);
      }
      case "tool_call.started":
      case "tool_call.delta":
      case "tool_call.ready": {
        const delta = calls.of(event);
        return delta === undefined ? "" : frame(delta);
      }
      case "run.finished": {
        const rest = calls.rest(event.calls ?? []).map((delta) => frame(delta));
        const usage = chat.includeUsage ? dataFrame({ ...head, choices: [], usage: chatUsage(event.usage) }) : "";
        return `${rest.join("")}${frame({}, finishReason(event, chat))}${usage}data: [DONE]\n\n`;
      }
      case "run.failed":
        return errorFrame(event.error);
      default:
        return "";
    }
  };
}

const headOf = (chat: ChatRun) => ({
  id: `chatcmpl-${chat.run}`,
  object: "chat.completion.chunk",
  created: seconds(),
  model: chat.model,
});

/** An empty chunk: the only heartbeat every client accepts. */
export const chatHeartbeat = (chat: ChatRun): string =>
  dataFrame({ ...headOf(chat), choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: null }] });

/** The client's calls, indexed in starting order. */
class CallDeltas {
  readonly #chat: ChatRun;
  readonly #indexes = new Map<string, number>();
  /** Calls without arguments so far. */
  readonly #bare = new Set<string>();

  constructor(chat: ChatRun) {
    this.#chat = chat;
  }

  of(event: EventOf<"tool_call.started" | "tool_call.delta" | "tool_call.ready">): Record<string, unknown> | undefined {
    if (event.type === "tool_call.started") {
      // Free text arrives wrapped in JSON, so it is emitted only when complete.
      if (!event.client || this.#chat.custom.has(event.name)) return undefined;
      const index = this.#add(event.call);
      this.#bare.add(event.call);
      const body = { name: event.name, arguments: "" };
      if (this.#chat.legacy) return { function_call: body };
      return { tool_calls: [{ index, id: event.call, type: "function", function: body }] };
    }
    const index = this.#indexes.get(event.call);
    if (index === undefined) return undefined;
    const isBare = this.#bare.delete(event.call);
    // A call without arguments is known as one when it is ready; clients parse what they got as JSON.
    if (event.type === "tool_call.ready" && !isBare) return undefined;
    const body = {
      arguments: event.type === "tool_call.ready" ? JSON.stringify(event.arguments) : event.arguments,
    };
    return this.#chat.legacy ? { function_call: body } : { tool_calls: [{ index, function: body }] };
  }

  /** Calls that were not streamed. */
  rest(calls: readonly PendingCall[]): Record<string, unknown>[] {
    const untold = calls.filter(({ call }) => !this.#indexes.has(call));
    if (this.#chat.legacy) return untold.slice(0, 1).map((call) => ({ function_call: functionOf(call) }));
    return untold.map((call) => ({ tool_calls: [{ index: this.#add(call.call), ...toolCall(call, this.#chat) }] }));
  }

  #add(call: string): number {
    const index = this.#indexes.size;
    this.#indexes.set(call, index);
    return index;
  }
}
