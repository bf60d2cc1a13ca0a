import { byWhom } from "venturi/internal/fold";
import type { RunEvent } from "../state/api-types.ts";
import { plain } from "../text/words.ts";

/** A row of the event table: one event, or consecutive deltas of the same kind. */
export interface EventRow {
  readonly first: RunEvent;
  last: RunEvent;
  count: number;
  /** Characters of the folded deltas. */
  size: number;
}

const folded = new Set(["text.delta", "reasoning.delta", "refusal.delta", "tool_call.delta", "tool.output"]);

/** Adds an event to the rows. Consecutive deltas become one row: ten thousand tokens are one line to a reader. */
export function addRow(rows: EventRow[], event: RunEvent): void {
  const last = rows.at(-1);
  if (last !== undefined && folded.has(event.type) && last.first.type === event.type && sameCall(last.first, event)) {
    last.last = event;
    last.count += 1;
    last.size += sizeOf(event);
    return;
  }
  rows.push({ first: event, last: event, count: 1, size: sizeOf(event) });
}

const sameCall = (one: RunEvent, other: RunEvent): boolean =>
  ("call" in one ? one.call : undefined) === ("call" in other ? other.call : undefined);

function sizeOf(event: RunEvent): number {
  if (event.type === "tool_call.delta") return event.arguments.length;
  return "text" in event && typeof event.text === "string" ? event.text.length : 0;
}

/** It tells of something that went wrong. What a person stopped has not failed. */
export const isMishap = (event: RunEvent): boolean =>
  event.type === "run.failed" || event.type === "generation.failed"
    ? event.error.code !== "stream_interrupted"
    : event.type === "tool_call.rejected" || (event.type === "tool.finished" && !event.ok);

/** The event summarised in one line. */
export function lineOf(event: RunEvent): string {
  switch (event.type) {
    case "run.started":
      return `${event.agent} ${event.input.text ?? ""}`;
    case "round.started":
      return `${event.model}${event.attempt > 1 ? ` (attempt ${event.attempt})` : ""}`;
    case "text.delta":
    case "reasoning.delta":
    case "refusal.delta":
    case "tool.output":
      return event.text;
    case "tool_call.started":
      return event.name;
    case "tool_call.delta":
      return event.arguments;
    case "tool_call.ready":
      return `${event.name} ${JSON.stringify(event.arguments)}`;
    case "tool_call.rejected":
      return `${event.name}: ${event.error.err}`;
    case "tool.started":
      return `${event.name}${event.attempt > 1 ? ` (attempt ${event.attempt})` : ""}`;
    case "tool.finished":
      return `${event.name} ${event.ok ? (event.output ?? "") : (event.error?.err ?? "failed")}`;
    case "approval.requested":
      return `${event.name} ${JSON.stringify(event.arguments)}`;
    case "approval.resolved":
      return `${event.approved ? (event.for === "run" ? "allowed for the run" : "approved") : "refused"}${byWhom(event.by)}${event.reason === undefined ? "" : `: ${event.reason}`}`;
    case "question.asked":
      return `${event.name} ${event.message}`;
    case "question.answered":
      return `${event.answered ? JSON.stringify(event.answer ?? "done") : "declined"}${byWhom(event.by)}`;
    case "message.added":
      return `${prefixed(event.by)}${event.message.parts.map((part) => (part.type === "text" ? part.text : part.type)).join(" ")}`;
    case "generation.failed":
      return `${event.model}: ${event.error.code} ${event.error.err}`;
    case "round.retracted":
      return event.reason;
    case "generation.finished":
    case "round.finished":
      return `${event.finish}, ${event.usage.inputTokens ?? "?"} in, ${event.usage.outputTokens ?? "?"} out`;
    case "context.compacted":
      return compactedText(event);
    case "memory.changed":
      return `${event.document} of ${event.scope} ${event.owner}, version ${event.version}${event.why === undefined ? "" : `: ${event.why}`}`;
    case "memory.recalled":
      return recalledText(event);
    case "agent.changed":
      return event.agent;
    case "budget.warned":
    case "budget.exceeded":
      return `${event.budget}, ${event.whose || event.of}`;
    case "run.paused":
    case "run.continued":
      return byWhom(event.by).trim();
    case "tools.found":
      return event.names.join(", ");
    case "guard.decided":
      return `${event.guard}: ${event.action} ${event.direction}${event.rule === undefined ? "" : `, ${event.count ?? 1} ${event.rule}`}`;
    case "agent.revised":
      return `${event.agent}@${event.revision}`;
    case "run.resumed":
      return `by another worker, the ${ordinal(event.epoch)}`;
    case "provider.activity":
      return event.kind;
    case "run.finished":
      return `${event.finish}: ${plain(event.output)}`;
    case "run.failed":
      return `${event.error.code}: ${event.error.err}`;
  }
}

const prefixed = (by: string | undefined): string => (byWhom(by) === "" ? "" : `${byWhom(by).trim()}: `);

/** 2nd, 3rd, 11th. */
function ordinal(value: number): string {
  const last = value % 100 > 10 && value % 100 < 14 ? 0 : value % 10;
  return `${value}${["th", "st", "nd", "rd"][last] ?? "th"}`;
}

export function recalledText({ notes, store, error }: Extract<RunEvent, { type: "memory.recalled" }>): string {
  if (error !== undefined && notes.length === 0) return `nothing from ${store}: ${error.err}`;
  const texts = notes.map(({ text, id }) => text ?? id).join(" · ");
  return `${notes.length} from ${store}${texts === "" ? "" : `: ${texts}`}`;
}

function compactedText({
  dropped,
  summary,
  results = [],
  error,
}: Extract<RunEvent, { type: "context.compacted" }>): string {
  const what = [
    ...(dropped > 0 || results.length === 0 ? [`${dropped} messages`] : []),
    ...(results.length > 0 ? [`${results.length} results`] : []),
  ].join(", ");
  if (error !== undefined) return `no summary: ${error.err}`;
  return summary === undefined ? what : `${what}: ${summary}`;
}
