import type { Message, Part } from "../../core/model/messages.ts";
import { readOn } from "./call-result.ts";
import { folded, isCut } from "./folded.ts";
import type { RunState } from "./run-state.ts";

/** Appends an ended run to its session; where the run made a summary, the summary replaces what it covers. */
export function extendSession(session: Message[], state: RunState): Message[] {
  const own = sessionMessages(state);
  const { fold } = state;
  const seen = session.length;
  session.push(...own);
  if (fold === undefined) return session;
  const isInside = fold.messages < fold.session;
  // The run may have seen fewer session messages (calls without a result are left out): rather keep one too many than lose one.
  const unseen = isInside ? Math.max(0, seen - fold.session) : 0;
  let end = Math.max(0, seen + fold.messages - fold.session - unseen);
  while (end > 0 && end < session.length && !isCut(session, end)) end -= 1;
  return folded(session, end, fold.summary);
}

/** The messages an ended run adds to its session. */
function sessionMessages(state: RunState): Message[] {
  const left = state.terminal?.type === "run.finished" ? (state.terminal.calls ?? []) : [];
  const open = new Set(left.map(({ call }) => call));
  const messages = state.messages.flatMap((message) => remembered(message, state, open));
  const partial = state.round?.text;
  return partial ? [...messages, { role: "assistant", parts: [{ type: "text", text: partial }] }] : messages;
}

/** Removes the placeholder result of a call left to the client. */
function remembered(message: Message, state: RunState, open: ReadonlySet<string>): Message[] {
  const parts = message.parts
    .filter((part) => !(part.type === "tool_result" && open.has(part.call)))
    .map((part) => ended(part, state));
  return parts.length === 0 && message.parts.length > 0 ? [] : [{ ...message, parts }];
}

/**
 * The session as continued by a run with this input. Calls and results stay in pairs, with the reasoning that led to them; vendors refuse
 * one without the other, and an id twice. Of the calls left to the client only those with results stay. A pair that the client repeats counts at its
 * new position.
 */
export function continuedBy(session: readonly Message[], input: readonly Message[]): Message[] {
  const open = new Map<string, Part>();
  const pairs = new Map<string, readonly Part[]>();
  for (const { parts } of [...session, ...input]) {
    for (const part of parts) {
      if (part.type === "tool_call") open.set(part.call, part);
      if (part.type !== "tool_result") continue;
      const call = open.get(part.call);
      if (call !== undefined) pairs.set(part.call, [call, part]);
      open.delete(part.call);
    }
  }
  const stands = (part: Part) =>
    (part.type !== "tool_call" && part.type !== "tool_result") || pairs.get(part.call)?.includes(part) === true;
  return session.flatMap((message) => {
    const parts = message.parts.filter(stands);
    if (parts.length === message.parts.length) return [message];
    // Reasoning is only required next to the output it led to.
    return parts.every((part) => part.type === "reasoning") ? [] : [{ ...message, parts }];
  });
}

/** A truncated result can only be read further within its own run. */
function ended(part: Part, state: RunState): Part {
  if (part.type !== "tool_result" || !state.cutResults.has(part.call)) return part;
  return { ...part, output: part.output.replace(readOn(part.call), "") };
}
