import { type FoldedEvent, isPiece } from "venturi/internal/fold";
import type { EventOf, RunEvent } from "../state/api-types.ts";
import { isMishap } from "./event-rows.ts";
import { noticesOf } from "./notices.ts";
import { type Item, RunView, type SaidEvent } from "./view.ts";

export const emptyView = (run: string): RunView => new RunView(run);

/** Adds an event to the view, in constant time. An event that was seen before is ignored, so that a reader may resume anywhere. */
export function fold(view: RunView, event: RunEvent): RunView {
  // The wire's own types; a journal of an earlier release may lack some times at its end.
  if (!view.take(event as FoldedEvent)) return view;
  if (isMishap(event) && !isRefused(view, event)) view.mishaps.push(event.seq);
  if (isPiece(event)) view.attempt?.ticks.push(event.at);
  if ("call" in event && event.call !== undefined) showCall(view, event.call, event);
  show(view, event);
  for (const notice of noticesOf(event, view)) push(view, notice);
  return view;
}

export function foldAll(run: string, events: Iterable<RunEvent>, until = Number.POSITIVE_INFINITY): RunView {
  const view = emptyView(run);
  for (const event of events) {
    if (event.seq > until) break;
    fold(view, event);
  }
  return view;
}

/** A person's no is no failure of the tool. */
const isRefused = (view: RunView, event: RunEvent): boolean =>
  event.type === "tool.finished" && view.calls.get(event.call)?.state === "refused";

/** What streams of a call, and where it stands in the conversation. */
function showCall(view: RunView, id: string, event: RunEvent): void {
  const call = view.calls.get(id);
  if (call === undefined) return;
  if (call.seq === event.seq) push(view, { kind: "call", seq: event.seq, call });
  if (event.type === "tool_call.delta") call.argumentsText += event.arguments;
  else if (event.type === "tool_call.rejected") call.argumentsText = event.arguments;
  else if (event.type === "tool.output") call.progress += event.text;
}

function show(view: RunView, event: RunEvent): void {
  switch (event.type) {
    case "run.started":
      return ask(view, event);
    case "message.added": {
      const { seq, at, message, by } = event;
      view.items.push({ kind: "user", seq, at, message, steered: true, by });
      return;
    }
    case "text.delta":
    case "refusal.delta":
    case "reasoning.delta":
      return say(view, event);
    case "round.retracted":
      return retract(view, event);
    case "generation.failed":
    case "generation.finished":
    case "run.finished":
    case "run.failed":
      return close(view.items.at(-1));
  }
}

function ask(view: RunView, { seq, at, input }: EventOf<"run.started">): void {
  const { text, messages = [] } = input;
  const asked = messages.filter(({ role }) => role !== "system");
  if (text !== undefined) asked.push({ role: "user", parts: [{ type: "text", text }] });
  for (const message of asked) view.items.push({ kind: "user", seq, at, message, steered: false });
}

function say(view: RunView, event: SaidEvent): void {
  const kind = event.type === "text.delta" ? "text" : event.type === "refusal.delta" ? "refusal" : "reasoning";
  const attempt = view.attempt?.started.attempt ?? 1;
  const last = view.items.at(-1);
  if (last?.kind === kind && last.open && last.round === event.round && last.attempt === attempt) {
    last.text += event.text;
    last.endAt = event.at;
    return;
  }
  const { seq, round, text, at } = event;
  push(view, { kind, seq, round, attempt, text, at, endAt: at, open: true, retracted: undefined });
}

/** What the round has said; the fold has done so with its calls. */
function retract(view: RunView, { round, reason }: EventOf<"round.retracted">): void {
  for (let index = view.items.length - 1; index >= 0; index -= 1) {
    const item = view.items[index];
    if (item === undefined || item.kind === "user") break;
    if (item.kind === "notice") continue;
    if ((item.kind === "call" ? item.call.round : item.round) !== round) break;
    if (item.kind === "call") continue;
    item.retracted ??= reason;
    item.open = false;
  }
}

function push(view: RunView, item: Item): void {
  close(view.items.at(-1));
  view.items.push(item);
}

function close(item: Item | undefined): void {
  if (item !== undefined && "open" in item) item.open = false;
}
