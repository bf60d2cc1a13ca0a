import { exactJson, isAsked, isCutShort, shownOutput, withCost } from "venturi/internal";
import type { EventOf, RunEvent, VenturiError } from "venturi/plugin";
import { dataFrame } from "venturi/plugin/channel";
import { argumentsObject } from "venturi/plugin/provider";
import { approvalId } from "./approvals.ts";

export const failureFrame = (error: VenturiError): string =>
  dataFrame({ type: "error", errorText: error.message }) + end;
const end = "data: [DONE]\n\n";

/** Transient: shown by the client, not stored in a message. */
export const heartbeatFrame = (): string =>
  dataFrame({ type: "data-heartbeat", data: { at: Date.now() }, transient: true });

/** A run as the AI SDK's UI message stream: one message, a step per round, the agent's tools as dynamic tool parts. */
export class UiProjection {
  readonly #run: string;
  readonly #stops: (event: RunEvent) => boolean;
  #begun = false;
  #step = false;
  #part = 0;
  #open: { kind: "text" | "reasoning"; id: string } | undefined;

  /** `stops`: whether the stream ends at this event, for the page to answer. */
  constructor(run: string, stops: (event: RunEvent) => boolean = isAsked) {
    this.#run = run;
    this.#stops = stops;
  }

  readonly project = (event: RunEvent): string => {
    const frames = this.#project(event);
    if (this.#begun || frames === "") return frames;
    this.#begun = true;
    return dataFrame({ type: "start", messageId: this.#run, messageMetadata: { run: this.#run } }) + frames;
  };

  #project(event: RunEvent): string {
    switch (event.type) {
      case "round.started":
        return this.#endStep() + this.#startStep();
      case "text.delta":
        return event.text === "" ? "" : this.#delta("text", event.text);
      case "reasoning.delta":
        return event.text === "" ? "" : this.#delta("reasoning", event.text);
      case "round.retracted":
        return this.#close() + dataFrame({ type: "reset-step" });
      case "round.finished":
        return this.#close();
      case "run.finished":
        return this.#finish(event);
      case "run.failed": {
        const aborted = event.error.code === "stream_interrupted";
        const last = aborted
          ? { type: "abort", reason: event.error.err }
          : { type: "error", errorText: event.error.err };
        return this.#endStep() + dataFrame(last) + end;
      }
      default:
        return this.#tool(event);
    }
  }

  #tool(event: RunEvent): string {
    switch (event.type) {
      case "tool_call.started":
        return this.#close() + dataFrame({ type: "tool-input-start", ...tool(event) });
      case "tool_call.delta":
        return dataFrame({ type: "tool-input-delta", toolCallId: event.call, inputTextDelta: event.arguments });
      case "tool_call.ready":
        return `data: ${exactJson({ type: "tool-input-available", ...tool(event), input: argumentsObject(event) })}\n\n`;
      case "tool_call.rejected": {
        const failure = { input: event.arguments, errorText: event.error.err };
        return dataFrame({ type: "tool-input-error", ...tool(event), ...failure });
      }
      case "tool.output": {
        const output = { toolCallId: event.call, output: event.text, preliminary: true, dynamic: true };
        return dataFrame({ type: "tool-output-available", ...output });
      }
      case "tool.finished": {
        const { call: toolCallId } = event;
        if (event.ok)
          return dataFrame({ type: "tool-output-available", toolCallId, output: shownOutput(event), dynamic: true });
        if (event.error?.code === "tool_denied") return dataFrame({ type: "tool-output-denied", toolCallId });
        const errorText = event.error?.err ?? event.output ?? "failed";
        return dataFrame({ type: "tool-output-error", toolCallId, errorText, dynamic: true });
      }
      case "approval.requested": {
        const id = approvalId(event.run, event.seq, event.call);
        // A called agent's question is about a call that this stream has not shown.
        const origin = event.origin
          ? dataFrame({ type: "tool-input-available", ...tool(event), input: event.arguments })
          : "";
        const asked = dataFrame({ type: "tool-approval-request", approvalId: id, toolCallId: event.call });
        return origin + asked + this.#wait(event);
      }
      case "question.asked": {
        const { run, seq, call, kind, name, message, schema, choices, url, fallback, until, origin } = event;
        // A question the stream continues past was answered; the answer follows.
        const state = this.#stops(event) ? { seq } : { answered: true };
        const data = { run, call, ...state, kind, name, message, schema, choices, url, fallback, until, origin };
        return dataFrame({ type: "data-question", id: call, data }) + this.#wait(event);
      }
      case "question.answered": {
        const { run, call, answered, answer, reason } = event;
        return dataFrame({ type: "data-question", id: call, data: { run, call, answered, answer, reason } });
      }
      default:
        return "";
    }
  }

  #delta(kind: "text" | "reasoning", delta: string): string {
    if (this.#open?.kind === kind) return dataFrame({ type: `${kind}-delta`, id: this.#open.id, delta });
    const closing = this.#close();
    const starting = this.#startStep();
    const id = `${this.#run}-${this.#part++}`;
    this.#open = { kind, id };
    return (
      closing + starting + dataFrame({ type: `${kind}-start`, id }) + dataFrame({ type: `${kind}-delta`, id, delta })
    );
  }

  #close(): string {
    const open = this.#open;
    this.#open = undefined;
    return open === undefined ? "" : dataFrame({ type: `${open.kind}-end`, id: open.id });
  }

  #startStep(): string {
    if (this.#step) return "";
    this.#step = true;
    return dataFrame({ type: "start-step" });
  }

  #endStep(): string {
    const closing = this.#close();
    if (!this.#step) return closing;
    this.#step = false;
    return closing + dataFrame({ type: "finish-step" });
  }

  #wait(event: RunEvent): string {
    if (!this.#stops(event)) return "";
    return this.#endStep() + dataFrame({ type: "finish", finishReason: "tool-calls" }) + end;
  }

  #finish(event: EventOf<"run.finished">): string {
    const finishReason = isCutShort(event.finish)
      ? "length"
      : event.finish === "content_filter"
        ? "content-filter"
        : "stop";
    const messageMetadata = { run: event.run, usage: withCost(event.usage, event), timing: event.timing };
    return this.#endStep() + dataFrame({ type: "finish", finishReason, messageMetadata }) + end;
  }
}

/** The client's types do not know the agent's tools, so their parts are dynamic. */
const tool = (event: { call: string; name: string }) => ({
  toolCallId: event.call,
  toolName: event.name,
  dynamic: true,
});
