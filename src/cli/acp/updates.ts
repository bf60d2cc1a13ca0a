import type { SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk";
import type { EventOf, RunEvent } from "../../core/run/events.ts";
import { isTerminal } from "../../core/run/events.ts";
import { shownOutput } from "../../core/run/projection.ts";
import type { JsonObject } from "../../serve/json-rpc.ts";
import type { KnownFiles } from "./known-files.ts";
import type { Plans } from "./plans.ts";
import type { ToolView } from "./tool-views.ts";

/** Maximum characters shown of a running tool's output, from its end. */
const shownTail = 16_384;
/** Adjacent texts are joined up to this length, characters. */
const longestChunk = 65_536;

interface Call {
  /** 0: a question that is not a call. */
  readonly round: number;
  view?: ToolView;
  input: JsonObject;
  output: string;
}

/** State folded over all runs of the session. */
export interface SessionFolds {
  readonly view: (name: string, input: JsonObject) => ToolView;
  readonly plans: Plans;
  readonly files: KnownFiles;
}

/** Converts the events of one run to session updates. An announced call always ends. */
export class Updates {
  readonly #folds: SessionFolds;
  readonly #run: string;
  readonly #open = new Map<string, Call>();
  readonly #known = new Set<string>();
  #attempt = 1;

  constructor(run: string, folds: SessionFolds) {
    this.#run = run;
    this.#folds = folds;
  }

  /** Call ids come from vendors and may repeat in another run of the session, so the run is included. */
  idOf = (call: string): string => `${this.#run}:${call}`;

  of(events: readonly RunEvent[]): SessionUpdate[] {
    const updates: SessionUpdate[] = [];
    for (const update of events.flatMap((event) => this.#one(event))) {
      const last = updates.at(-1);
      const joined = last === undefined ? undefined : join(last, update);
      if (joined === undefined) updates.push(update);
      else updates[updates.length - 1] = joined;
    }
    return updates;
  }

  /** Questions of a tool, or of a called agent, have no call of their own to announce them. */
  announced(call: string, title: string): SessionUpdate[] {
    if (this.#known.has(call)) return [];
    this.#known.add(call);
    this.#open.set(call, { round: 0, input: {}, output: "" });
    return [{ sessionUpdate: "tool_call", toolCallId: this.idOf(call), title, kind: "other", status: "pending" }];
  }

  #one(event: RunEvent): SessionUpdate[] {
    switch (event.type) {
      case "round.started":
        this.#attempt = event.attempt;
        return [];
      case "text.delta":
      case "refusal.delta":
        return this.#text("agent_message_chunk", event);
      case "reasoning.delta":
        return this.#text("agent_thought_chunk", event);
      case "message.added":
        return event.message.parts.flatMap((part) =>
          part.type === "text"
            ? [{ sessionUpdate: "user_message_chunk" as const, content: { type: "text" as const, text: part.text } }]
            : [],
        );
      case "tool_call.started":
        return this.#started(event);
      case "tool_call.ready":
        return this.#ready(event);
      case "tool_call.rejected":
        return this.#end(event.call, "failed", [textContent(event.error.err)]);
      case "tool.started":
        return this.#update(event.call, { status: "in_progress" });
      case "tool.output":
        return this.#output(event);
      case "tool.finished":
        return this.#finished(event);
      case "approval.resolved":
      case "question.answered":
        return this.#answered(event);
      case "memory.changed":
        return this.#folds.plans.after(event);
      case "round.retracted":
        return this.#abandon(`retracted: ${event.reason}`, event.round);
      default:
        return isTerminal(event) ? this.#abandon("the run ended before it") : [];
    }
  }

  #text(
    sessionUpdate: "agent_message_chunk" | "agent_thought_chunk",
    { round, text }: { readonly round: number; readonly text: string },
  ): SessionUpdate[] {
    if (text === "") return [];
    const messageId = `${this.#run}:${round}:${this.#attempt}`;
    return [{ sessionUpdate, messageId, content: { type: "text", text } }];
  }

  #started({ call, name, round }: EventOf<"tool_call.started">): SessionUpdate[] {
    const { title, kind } = this.#folds.view(name, {});
    const toolCallId = this.idOf(call);
    this.#open.set(call, { round, input: {}, output: "" });
    // Another attempt at the round may reuse the id.
    if (this.#known.has(call)) return [{ sessionUpdate: "tool_call_update", toolCallId, title, status: "pending" }];
    this.#known.add(call);
    return [{ sessionUpdate: "tool_call", toolCallId, title, name, kind, status: "pending" }];
  }

  #ready({ call, name, arguments: input }: EventOf<"tool_call.ready">): SessionUpdate[] {
    const view = this.#folds.files.completed(this.#folds.view(name, input));
    const { title, kind, locations } = view;
    const open = this.#open.get(call);
    if (open !== undefined) Object.assign(open, { view, input });
    const content = diffsOf(view);
    return this.#update(call, {
      title,
      kind,
      rawInput: input,
      ...(locations.length === 0 ? {} : { locations }),
      ...(content.length === 0 ? {} : { content }),
    });
  }

  #output({ call, text }: EventOf<"tool.output">): SessionUpdate[] {
    const open = this.#open.get(call);
    if (open === undefined) return [];
    open.output = (open.output + text).slice(-shownTail);
    return this.#update(call, { content: [...diffsOf(open.view), textContent(open.output)] });
  }

  #finished(event: EventOf<"tool.finished">): SessionUpdate[] {
    const { call, ok, error, images = [] } = event;
    const text = ok ? shownOutput(event) : (error?.err ?? shownOutput(event));
    const pictures = images.flatMap(({ mediaType, data }): ToolCallContent[] =>
      data === undefined ? [] : [{ type: "content", content: { type: "image", mimeType: mediaType, data } }],
    );
    const { view, input = {} } = this.#open.get(call) ?? {};
    if (ok && view !== undefined) this.#folds.files.after(view, input, event);
    const diffs = ok ? diffsOf(view) : [];
    const said = text === undefined || text === "" ? [] : [textContent(text)];
    return this.#end(call, ok ? "completed" : "failed", [...diffs, ...said, ...pictures]);
  }

  /** A question without a call ends with its answer; a call continues. */
  #answered(event: EventOf<"approval.resolved" | "question.answered">): SessionUpdate[] {
    if (this.#open.get(event.call)?.round !== 0) return [];
    const isYes = event.type === "approval.resolved" ? event.approved : event.answered;
    return this.#end(event.call, isYes ? "completed" : "failed", []);
  }

  #abandon(why: string, round?: number): SessionUpdate[] {
    const left = [...this.#open].filter(([, call]) => round === undefined || call.round === round);
    return left.flatMap(([call]) => this.#end(call, "failed", [textContent(why)]));
  }

  #end(call: string, status: "completed" | "failed", content: ToolCallContent[]): SessionUpdate[] {
    if (!this.#open.has(call)) return [];
    const ended = this.#update(call, { status, content });
    this.#open.delete(call);
    return ended;
  }

  #update(
    call: string,
    change: Omit<SessionUpdate & { sessionUpdate: "tool_call_update" }, "sessionUpdate" | "toolCallId">,
  ) {
    if (!this.#open.has(call)) return [];
    return [{ sessionUpdate: "tool_call_update" as const, toolCallId: this.idOf(call), ...change }];
  }
}

const diffsOf = (view: ToolView | undefined): ToolCallContent[] =>
  (view?.diffs ?? []).map((diff) => ({ type: "diff", ...diff }));

export const textContent = (text: string): ToolCallContent => ({ type: "content", content: { type: "text", text } });

/** Joins two chunks of the same message, which is most of a stream. */
function join(last: SessionUpdate, next: SessionUpdate): SessionUpdate | undefined {
  if (last.sessionUpdate !== "agent_message_chunk" && last.sessionUpdate !== "agent_thought_chunk") return undefined;
  if (next.sessionUpdate !== last.sessionUpdate || next.messageId !== last.messageId) return undefined;
  if (last.content.type !== "text" || next.content.type !== "text") return undefined;
  if (last.content.text.length > longestChunk) return undefined;
  return { ...last, content: { type: "text", text: last.content.text + next.content.text } };
}
