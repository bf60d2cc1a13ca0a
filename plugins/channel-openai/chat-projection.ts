import { callRetracted, VendorAnswer, withCost } from "venturi/internal";
import type { PendingCall, RunEvent } from "venturi/plugin";
import { dataFrame, Paragraphs } from "venturi/plugin/channel";
import { type CallEvent, CallTurns } from "./call-turns.ts";
import { type ChatRun, chatUsage, finishReason, functionOf, toolCall } from "./chat-completion.ts";
import { chatWire } from "./chat-content.ts";
import { reasoningField, vendorFields, withFields } from "./chat-vendor.ts";
import { createdOf } from "./created.ts";
import { errorFrame } from "./errors.ts";

/**
 * A run as chat completion chunks. Tools that run here are not shown, because clients execute every tool call themselves;
 * arguments of client tools are streamed as they arrive.
 */
export function chatProjection(chat: ChatRun): (event: RunEvent) => string {
  const own = headOf(chat);
  const vendor = new VendorAnswer(chatWire);
  let head: Record<string, unknown> = own;
  const chunk = (delta: Record<string, unknown>, finish: string | null = null, choice = {}): string =>
    dataFrame({ ...head, choices: [{ index: 0, delta, logprobs: null, ...choice, finish_reason: finish }] });
  // Pre-serialised up to the text: a stream has thousands of these frames.
  const beforeText = () => chunk({ content: "" }).slice(0, -'""},"logprobs":null,"finish_reason":null}]}\n\n'.length);
  let before = beforeText();
  const after = '},"logprobs":null,"finish_reason":null}]}\n\n';
  const calls = new CallDeltas(chat);
  const paragraphs = new Paragraphs();
  let reasoning = "reasoning_content";
  /** The role comes first; it waits for the vendor's fields about its answer. */
  let opening = true;
  const frame: typeof chunk = (...of) => {
    const first = opening ? chunk({ role: "assistant", content: "" }) : "";
    opening = false;
    return first + chunk(...of);
  };
  return (event) => {
    switch (event.type) {
      case "round.started":
        calls.begin();
        if (!vendor.add(event)) return "";
        head = own;
        before = beforeText();
        return "";
      case "text.delta": {
        const text = event.round === paragraphs.round ? event.text : paragraphs.begin(event.round) + event.text;
        if (event.native === undefined && !opening) return before + JSON.stringify(text) + after;
        const said = vendorFields(event);
        return frame({ content: text, ...said?.message }, null, said?.choice);
      }
      case "round.finished":
        paragraphs.note(event);
        return "";
      case "refusal.delta": {
        const said = vendorFields(event);
        return frame({ refusal: event.text, ...said?.message }, null, said?.choice);
      }
      case "reasoning.delta":
        reasoning = reasoningField(event) ?? reasoning;
        return event.text === "" ? "" : frame({ [reasoning]: event.text });
      case "provider.activity": {
        if (vendor.add(event)) {
          head = { ...own, ...vendor.fields };
          before = beforeText();
          return "";
        }
        const said = vendorFields(event);
        return said === undefined ? "" : frame({ ...said.message }, null, said.choice);
      }
      case "generation.finished":
        vendor.add(event);
        return "";
      case "tool_call.started":
      case "tool_call.delta":
      case "tool_call.ready":
      case "tool_call.rejected": {
        let frames = "";
        for (const delta of calls.add(event)) frames += frame(delta);
        return frames;
      }
      case "round.retracted":
        calls.retract();
        return "";
      case "run.finished": {
        const rest = calls.rest(event.calls ?? []).map((delta) => frame(delta));
        const figures = withCost(vendor.usage(chatUsage(event.usage), event.usage), event);
        const usage = chat.includeUsage ? dataFrame({ ...head, choices: [], usage: figures }) : "";
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
  created: createdOf(chat.run, Date.now()),
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
  readonly #turns = new CallTurns();
  /** How many there were before this attempt. */
  #before = 0;

  constructor(chat: ChatRun) {
    this.#chat = chat;
  }

  add(event: CallEvent): Record<string, unknown>[] {
    const deltas: Record<string, unknown>[] = [];
    for (const each of this.#turns.add(event)) {
      const delta = this.#of(each);
      if (delta !== undefined) deltas.push(delta);
    }
    return deltas;
  }

  /** Another attempt begins. */
  begin(): void {
    this.#before = this.#indexes.size;
  }

  retract(): void {
    if (this.#indexes.size > this.#before) throw callRetracted();
    this.#turns.reset();
  }

  #of(event: CallEvent): Record<string, unknown> | undefined {
    if (event.type === "tool_call.rejected") return undefined;
    if (event.type === "tool_call.started") {
      // Free text arrives wrapped in JSON, so it is emitted only when complete.
      if (this.#chat.custom.has(event.name)) return undefined;
      const index = this.#add(event.call);
      this.#bare.add(event.call);
      const body = { name: event.name, arguments: "" };
      if (this.#chat.legacy) return { function_call: body };
      const call = { id: event.call, type: "function", function: body };
      const fields = event.native?.wire === chatWire ? event.native.fields : undefined;
      return { tool_calls: [{ index, ...withFields(call, fields) }] };
    }
    const index = this.#indexes.get(event.call);
    if (index === undefined) return undefined;
    const isBare = this.#bare.delete(event.call);
    // Only a ready call is known to have no arguments; clients parse the concatenation as JSON, so send `{}`.
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
