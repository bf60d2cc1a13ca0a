import { dataFrame, type EventOf, type PendingCall, type RunEvent, type Usage } from "venturi/plugin";
import { errorBody } from "./errors.ts";

export interface ChatRun {
  readonly run: string;
  readonly model: string;
  readonly includeUsage: boolean;
}

/**
 * A run as chat completion chunks. Tools that run here are not shown, since clients take every tool call as theirs to
 * execute; the calls left to the client come whole at the end, when it is sure that they stand.
 */
export function chatProjection({ run, model, includeUsage }: ChatRun): (event: RunEvent) => string {
  const head = { id: `chatcmpl-${run}`, object: "chat.completion.chunk", created: seconds(), model };
  const frame = (delta: Record<string, unknown>, finish: string | null = null): string =>
    dataFrame({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] });
  // Written out by hand up to the text: this is the one frame that there are thousands of.
  const before = frame({ content: "" }).slice(0, -'""},"logprobs":null,"finish_reason":null}]}\n\n'.length);
  const after = '},"logprobs":null,"finish_reason":null}]}\n\n';
  return (event) => {
    switch (event.type) {
      case "run.started":
        return frame({ role: "assistant", content: "" });
      case "text.delta":
        return before + JSON.stringify(event.text) + after;
      case "refusal.delta":
        return frame({ refusal: event.text });
      case "reasoning.delta":
        return event.text === "" ? "" : frame({ reasoning_content: event.text });
      case "run.finished": {
        const calls = event.calls?.length ? frame({ tool_calls: toolCalls(event.calls, true) }) : "";
        const usage = includeUsage ? dataFrame({ ...head, choices: [], usage: chatUsage(event.usage) }) : "";
        return `${calls}${frame({}, finishReason(event))}${usage}data: [DONE]\n\n`;
      }
      case "run.failed":
        return dataFrame(errorBody(event.error));
      default:
        return "";
    }
  };
}

export function chatCompletion({ run, model }: ChatRun, event: EventOf<"run.finished">): Record<string, unknown> {
  const calls = event.calls?.length ? { tool_calls: toolCalls(event.calls, false) } : {};
  const content = event.output === "" && event.calls?.length ? null : event.output;
  return {
    id: `chatcmpl-${run}`,
    object: "chat.completion",
    created: seconds(),
    model,
    choices: [
      {
        index: 0,
        message: { role: "assistant", content, refusal: null, ...calls },
        logprobs: null,
        finish_reason: finishReason(event),
      },
    ],
    usage: chatUsage(event.usage),
  };
}

const toolCalls = (calls: readonly PendingCall[], indexed: boolean) =>
  calls.map((call, index) => ({
    ...(indexed ? { index } : {}),
    id: call.call,
    type: "function",
    function: { name: call.name, arguments: JSON.stringify(call.arguments) },
  }));

function finishReason({ finish, calls }: EventOf<"run.finished">): string {
  if (calls?.length) return "tool_calls";
  if (finish === "length" || finish === "content_filter") return finish;
  return "stop";
}

function chatUsage(usage: Usage): Record<string, unknown> {
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

const seconds = (): number => Math.floor(Date.now() / 1000);
