import { shownOutput, withCost } from "venturi/internal";
import type { AskedEvent, EventOf, RunEvent, Usage, VenturiError } from "venturi/plugin";
import { dataFrame } from "venturi/plugin/channel";

export const failureFrame = (error: VenturiError): string =>
  dataFrame({ type: "RUN_ERROR", message: error.message, code: error.code });

export interface AgUiRun {
  readonly threadId: string;
  readonly runId: string;
  /** Our run, which may span several AG-UI runs. */
  readonly run: string;
}

/** Encodes the waiting run, the event after which it continues, and the call. */
const interruptId = (event: AskedEvent): string => `${event.run}/${event.seq}/${event.call}`;
export function parseInterrupt(id: string): { run: string; seq: number; call: string } | undefined {
  const [, run, seq, call] = /^([^/]+)\/(\d+)\/(.+)$/.exec(id) ?? [];
  return run === undefined || call === undefined ? undefined : { run, seq: Number(seq), call };
}

/** A run as AG-UI events: a step per round, a message per stretch of text, tools with arguments and results. */
export class AgUiProjection {
  readonly #ids: AgUiRun;
  /** Open calls, and whether they have no arguments so far. */
  readonly #calls = new Map<string, { readonly bare: boolean }>();
  #begun = false;
  #step: string | undefined;
  #part = 0;
  #open: { kind: "TEXT" | "REASONING"; id: string } | undefined;

  constructor(ids: AgUiRun) {
    this.#ids = ids;
  }

  readonly project = (event: RunEvent): string => {
    return this.#beginRun() + this.#project(event);
  };

  /** Clients reject anything before RUN_STARTED, and a heartbeat may come earlier while the run is queued. */
  readonly heartbeat = (): string => {
    const beat = dataFrame({ type: "CUSTOM", name: "heartbeat", value: { at: Date.now() } });
    return this.#beginRun() + beat;
  };

  #beginRun(): string {
    if (this.#begun) return "";
    this.#begun = true;
    const { threadId, runId } = this.#ids;
    return dataFrame({ type: "RUN_STARTED", threadId, runId });
  }

  #project(event: RunEvent): string {
    switch (event.type) {
      case "round.started": {
        const stepName = `round ${event.round}.${event.attempt}`;
        const ended = this.#endStep();
        this.#step = stepName;
        return ended + dataFrame({ type: "STEP_STARTED", stepName });
      }
      case "text.delta":
        return event.text === "" ? "" : this.#delta("TEXT", event.text);
      case "reasoning.delta":
        return event.text === "" ? "" : this.#delta("REASONING", event.text);
      case "round.finished":
        return this.#close();
      case "round.retracted":
        return this.#close() + dataFrame({ type: "CUSTOM", name: "round.retracted", value: { round: event.round } });
      case "run.finished":
        return this.#finish({
          usage: withCost(usageOf(event.usage), event),
          outcome: { type: "success", ...pending(event) },
        });
      case "run.failed": {
        const { err: message, code } = event.error;
        return (
          this.#endStep() +
          dataFrame({ type: "RUN_ERROR", message, code, usage: [withCost(usageOf(event.usage), event)] })
        );
      }
      default:
        return this.#tool(event);
    }
  }

  #tool(event: RunEvent): string {
    switch (event.type) {
      case "tool_call.started":
        this.#calls.set(event.call, { bare: true });
        return this.#close() + dataFrame({ type: "TOOL_CALL_START", toolCallId: event.call, toolCallName: event.name });
      case "tool_call.delta":
        return this.#arguments(event.call, event.arguments);
      case "tool_call.ready": {
        // Clients parse the concatenated arguments as JSON, so empty ones become `{}`.
        const none = this.#calls.get(event.call)?.bare === true;
        return (none ? this.#arguments(event.call, JSON.stringify(event.arguments)) : "") + this.#endCall(event.call);
      }
      case "tool_call.rejected":
        return this.#endCall(event.call) + result(event.call, event.error.err);
      case "tool.output":
        return dataFrame({ type: "CUSTOM", name: "tool.output", value: { toolCallId: event.call, text: event.text } });
      case "tool.finished":
        return result(
          event.call,
          event.ok ? (shownOutput(event) ?? "") : (event.error?.err ?? event.output ?? "failed"),
        );
      case "approval.requested": {
        const { call: toolCallId, name, reason, origin } = event;
        const who = origin === undefined ? `"${name}"` : `"${name}" of the agent "${origin.agent}"`;
        const about = origin === undefined ? { toolCallId } : { metadata: { origin, arguments: event.arguments } };
        const message = reason ?? `May ${who} run?`;
        const interrupt = { id: interruptId(event), reason: "approval", message, ...about };
        return this.#finish({ outcome: { type: "interrupt", interrupts: [interrupt] } });
      }
      case "question.asked": {
        const { kind, message, schema, choices, url, origin } = event;
        const responseSchema = schema ?? (choices === undefined ? { type: "string" } : { enum: choices });
        const metadata = { ...(url === undefined ? {} : { url }), ...(origin === undefined ? {} : { origin }) };
        const interrupt = { id: interruptId(event), reason: kind, message, responseSchema, metadata };
        return this.#finish({ outcome: { type: "interrupt", interrupts: [interrupt] } });
      }
      case "question.answered": {
        const { call, answered, answer, reason } = event;
        return dataFrame({ type: "CUSTOM", name: "question.answered", value: { call, answered, answer, reason } });
      }
      default:
        return "";
    }
  }

  #arguments(call: string, delta: string): string {
    this.#calls.set(call, { bare: false });
    return dataFrame({ type: "TOOL_CALL_ARGS", toolCallId: call, delta });
  }

  #delta(kind: "TEXT" | "REASONING", delta: string): string {
    const opening = this.#open?.kind === kind ? "" : this.#close() + this.#begin(kind);
    const messageId = this.#open?.id;
    return opening + dataFrame({ type: `${kind}_MESSAGE_CONTENT`, messageId, delta });
  }

  #begin(kind: "TEXT" | "REASONING"): string {
    const messageId = `${this.#ids.run}-${this.#ids.runId}-${this.#part++}`;
    this.#open = { kind, id: messageId };
    if (kind === "TEXT") return dataFrame({ type: "TEXT_MESSAGE_START", messageId, role: "assistant" });
    const start = dataFrame({ type: "REASONING_START", messageId });
    return start + dataFrame({ type: "REASONING_MESSAGE_START", messageId, role: "reasoning" });
  }

  #close(): string {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined) return "";
    const ended = dataFrame({ type: `${open.kind}_MESSAGE_END`, messageId: open.id });
    return open.kind === "TEXT" ? ended : ended + dataFrame({ type: "REASONING_END", messageId: open.id });
  }

  #endCall(call: string): string {
    return this.#calls.delete(call) ? dataFrame({ type: "TOOL_CALL_END", toolCallId: call }) : "";
  }

  #endStep(): string {
    let frames = this.#close();
    for (const call of [...this.#calls.keys()]) frames += this.#endCall(call);
    if (this.#step !== undefined) frames += dataFrame({ type: "STEP_FINISHED", stepName: this.#step });
    this.#step = undefined;
    return frames;
  }

  #finish({ usage, outcome }: { usage?: Record<string, unknown>; outcome: Record<string, unknown> }): string {
    const { threadId, runId } = this.#ids;
    const counted = usage === undefined ? {} : { usage: [usage] };
    return this.#endStep() + dataFrame({ type: "RUN_FINISHED", threadId, runId, outcome, ...counted });
  }
}

const pending = ({ calls }: EventOf<"run.finished">): { pendingToolCallIds?: string[] } =>
  calls?.length ? { pendingToolCallIds: calls.map(({ call }) => call) } : {};

const result = (call: string, content: string): string =>
  dataFrame({ type: "TOOL_CALL_RESULT", messageId: `${call}-result`, toolCallId: call, content, role: "tool" });

const usageOf = (usage: Usage): Record<string, unknown> => ({
  inputTokens: usage.inputTokens,
  outputTokens: usage.outputTokens,
  reasoningTokens: usage.reasoningTokens,
  cachedInputTokens: usage.cacheReadTokens,
  cacheWriteInputTokens: usage.cacheWriteTokens,
});
