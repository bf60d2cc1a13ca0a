import type { EventOf, PendingCall, RunEvent, Usage } from "venturi/plugin";
import { errorBody } from "./errors.ts";

export interface ResponseRun {
  readonly run: string;
  readonly model: string;
  readonly previous: string | null;
}

type Item = Record<string, unknown>;

/** A run as the events of the Responses API: a message per round that says something, a function call per client tool. */
export class ResponseProjection {
  readonly #response: ResponseRun;
  readonly #created = Math.floor(Date.now() / 1000);
  readonly #output: Item[] = [];
  #sequence = 0;
  #open: { id: string; index: number; text: string } | undefined;

  constructor(response: ResponseRun) {
    this.#response = response;
  }

  readonly project = (event: RunEvent): string => {
    switch (event.type) {
      case "run.started":
        return (
          this.#frame("response.created", { response: this.#body("in_progress") }) +
          this.#frame("response.in_progress", { response: this.#body("in_progress") })
        );
      case "text.delta":
        return this.#text(event.text);
      case "round.finished":
        return this.#close();
      case "run.finished":
        return this.#finish(event);
      case "run.failed": {
        const { code, message } = errorBody(event.error).error;
        const response = { ...this.#body("failed"), error: { code, message }, usage: usageOf(event.usage) };
        return this.#close() + this.#frame("response.failed", { response });
      }
      default:
        return "";
    }
  };

  /** Said again: clients know it, and nothing follows from it. Before the first event there is no response to speak of. */
  readonly heartbeat = (): string =>
    this.#sequence === 0
      ? ": keep-alive\n\n"
      : this.#frame("response.in_progress", { response: this.#body("in_progress") });

  #text(delta: string): string {
    const opening = this.#open === undefined ? this.#begin() : "";
    const open = this.#open;
    if (open === undefined) return opening;
    open.text += delta;
    const place = { item_id: open.id, output_index: open.index, content_index: 0 };
    return opening + this.#frame("response.output_text.delta", { ...place, delta, logprobs: [] });
  }

  #begin(): string {
    const index = this.#output.length;
    const id = `msg_${this.#response.run}_${index}`;
    this.#open = { id, index, text: "" };
    this.#output.push(message(id, "in_progress", []));
    return (
      this.#frame("response.output_item.added", { output_index: index, item: this.#output[index] }) +
      this.#frame("response.content_part.added", {
        item_id: id,
        output_index: index,
        content_index: 0,
        part: textPart(""),
      })
    );
  }

  #close(): string {
    const open = this.#open;
    if (open === undefined) return "";
    this.#open = undefined;
    const place = { item_id: open.id, output_index: open.index, content_index: 0 };
    const part = textPart(open.text);
    const item = message(open.id, "completed", [part]);
    this.#output[open.index] = item;
    return (
      this.#frame("response.output_text.done", { ...place, text: open.text, logprobs: [] }) +
      this.#frame("response.content_part.done", { ...place, part }) +
      this.#frame("response.output_item.done", { output_index: open.index, item })
    );
  }

  #finish(event: EventOf<"run.finished">): string {
    let frames = this.#close();
    for (const call of event.calls ?? []) frames += this.#call(call);
    const cut = event.finish === "length";
    const response = {
      ...this.#body(cut ? "incomplete" : "completed"),
      incomplete_details: cut ? { reason: "max_output_tokens" } : null,
      usage: usageOf(event.usage),
    };
    return frames + this.#frame(cut ? "response.incomplete" : "response.completed", { response });
  }

  #call(call: PendingCall): string {
    const index = this.#output.length;
    const text = JSON.stringify(call.arguments);
    const item = functionCall(this.#response.run, index, call);
    this.#output.push(item);
    const place = { item_id: item.id, output_index: index };
    return (
      this.#frame("response.output_item.added", {
        output_index: index,
        item: { ...item, arguments: "", status: "in_progress" },
      }) +
      this.#frame("response.function_call_arguments.delta", { ...place, delta: text }) +
      this.#frame("response.function_call_arguments.done", { ...place, name: call.name, arguments: text }) +
      this.#frame("response.output_item.done", { output_index: index, item })
    );
  }

  #body(status: string): Record<string, unknown> {
    return responseBody(this.#response, { status, created: this.#created, output: [...this.#output] });
  }

  #frame(type: string, fields: Record<string, unknown>): string {
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#sequence++, ...fields })}\n\n`;
  }
}

/** The same run as one whole response. */
export function wholeResponse(response: ResponseRun, event: EventOf<"run.finished">): Record<string, unknown> {
  const { run } = response;
  const output: Item[] = [];
  if (event.output !== "") output.push(message(`msg_${run}_0`, "completed", [textPart(event.output)]));
  for (const call of event.calls ?? []) output.push(functionCall(run, output.length, call));
  const cut = event.finish === "length";
  return {
    ...responseBody(response, {
      status: cut ? "incomplete" : "completed",
      created: Math.floor(Date.now() / 1000),
      output,
    }),
    incomplete_details: cut ? { reason: "max_output_tokens" } : null,
    usage: usageOf(event.usage),
  };
}

const responseBody = (
  { run, model, previous }: ResponseRun,
  { status, created, output }: { status: string; created: number; output: readonly Item[] },
): Record<string, unknown> => ({
  id: `resp_${run}`,
  object: "response",
  created_at: created,
  status,
  model,
  output,
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: previous,
  tool_choice: "auto",
  tools: [],
  temperature: null,
  top_p: null,
  usage: null,
});

const message = (id: string, status: string, content: readonly Item[]): Item => ({
  id,
  type: "message",
  status,
  role: "assistant",
  content,
});

const textPart = (text: string): Item => ({ type: "output_text", text, annotations: [], logprobs: [] });

const functionCall = (run: string, index: number, call: PendingCall): Item => ({
  id: `fc_${run}_${index}`,
  type: "function_call",
  status: "completed",
  call_id: call.call,
  name: call.name,
  arguments: JSON.stringify(call.arguments),
});

function usageOf(usage: Usage): Record<string, unknown> {
  const input = usage.inputTokens ?? 0;
  const output = usage.outputTokens ?? 0;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheReadTokens ?? 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    total_tokens: input + output,
  };
}
