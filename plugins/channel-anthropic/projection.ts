import type { EventOf, RunEvent, Usage } from "venturi/plugin";
import { errorFrame } from "./errors.ts";

export interface MessageRun {
  readonly run: string;
  readonly model: string;
}

/**
 * A run as the events of one message: thinking and text as they come, each kind in a block of its own, the calls left to the
 * client as tool_use at the end. Tools that run here are not shown; clients take every tool_use as theirs to execute.
 */
export class MessageProjection {
  readonly #message: MessageRun;
  #index = -1;
  #open: "text" | "thinking" | undefined;

  constructor(message: MessageRun) {
    this.#message = message;
  }

  readonly project = (event: RunEvent): string => {
    switch (event.type) {
      case "run.started":
        return frame("message_start", { message: { ...body(this.#message), usage: usageOf({}) } });
      case "text.delta":
        return this.#delta("text", { type: "text_delta", text: event.text });
      case "reasoning.delta":
        return this.#reasoning(event);
      case "run.finished":
        return this.#finish(event);
      case "run.failed":
        return errorFrame(event.error);
      default:
        return "";
    }
  };

  #reasoning({ text, signature }: EventOf<"reasoning.delta">): string {
    const said = text === "" ? "" : this.#delta("thinking", { type: "thinking_delta", thinking: text });
    return signature && this.#open === "thinking"
      ? said + this.#delta("thinking", { type: "signature_delta", signature })
      : said;
  }

  #delta(kind: "text" | "thinking", delta: Record<string, unknown>): string {
    const opening = this.#open === kind ? "" : this.#close() + this.#begin(kind);
    return opening + frame("content_block_delta", { index: this.#index, delta });
  }

  #begin(kind: "text" | "thinking"): string {
    this.#open = kind;
    this.#index++;
    const block =
      kind === "text" ? { type: kind, text: "", citations: null } : { type: kind, thinking: "", signature: "" };
    return frame("content_block_start", { index: this.#index, content_block: block });
  }

  #close(): string {
    if (this.#open === undefined) return "";
    this.#open = undefined;
    return frame("content_block_stop", { index: this.#index });
  }

  #finish(event: EventOf<"run.finished">): string {
    let frames = this.#close();
    for (const { call, name, arguments: input } of event.calls ?? []) {
      const index = ++this.#index;
      const delta = { type: "input_json_delta", partial_json: JSON.stringify(input) };
      frames += frame("content_block_start", { index, content_block: { type: "tool_use", id: call, name, input: {} } });
      frames += frame("content_block_delta", { index, delta });
      frames += frame("content_block_stop", { index });
    }
    const delta = { stop_reason: stopReason(event), stop_sequence: null };
    return frames + frame("message_delta", { delta, usage: usageOf(event.usage) }) + frame("message_stop", {});
  }
}

/** The same run as one whole message. */
export function wholeMessage(message: MessageRun, event: EventOf<"run.finished">): Record<string, unknown> {
  const text = event.output === "" ? [] : [{ type: "text", text: event.output, citations: null }];
  const calls = (event.calls ?? []).map(({ call, name, arguments: input }) => ({
    type: "tool_use",
    id: call,
    name,
    input,
  }));
  return {
    ...body(message),
    content: [...text, ...calls],
    stop_reason: stopReason(event),
    usage: usageOf(event.usage),
  };
}

const body = ({ run, model }: MessageRun): Record<string, unknown> => ({
  id: `msg_${run}`,
  type: "message",
  role: "assistant",
  model,
  content: [],
  stop_reason: null,
  stop_sequence: null,
});

function stopReason({ finish, calls }: EventOf<"run.finished">): string {
  if (calls?.length) return "tool_use";
  if (finish === "length") return "max_tokens";
  return finish === "refusal" || finish === "content_filter" ? "refusal" : "end_turn";
}

const usageOf = (usage: Usage): Record<string, unknown> => ({
  // Anthropic counts cached input apart from the rest.
  input_tokens: Math.max(0, (usage.inputTokens ?? 0) - (usage.cacheReadTokens ?? 0) - (usage.cacheWriteTokens ?? 0)),
  output_tokens: usage.outputTokens ?? 0,
  cache_read_input_tokens: usage.cacheReadTokens ?? 0,
  cache_creation_input_tokens: usage.cacheWriteTokens ?? 0,
});

const frame = (type: string, fields: Record<string, unknown>): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
