import type { Message } from "../core/model/messages.ts";

/** A conversation for wires whose system text comes first. */
export interface Prefaced {
  /** The leading system messages. */
  readonly preface: readonly Message[];
  /** Everything else in order; a later system message becomes a user turn marked as such. */
  readonly turns: readonly Message[];
}

/**
 * Separates leading system messages from the turns. A system message within the conversation stays in place, but is moved after a call's
 * result, because vendors refuse anything between the two. `keeps`: the wire can express the message at this index.
 */
export function prefaced(messages: readonly Message[], keeps: (index: number) => boolean = () => false): Prefaced {
  const begin = messages.findIndex(({ role }, index) => role !== "system" || keeps(index));
  if (begin < 0) return { preface: messages, turns: [] };
  const turns: Message[] = [];
  const open = new Set<string>();
  const waiting: Message[] = [];
  for (const [index, message] of messages.entries()) {
    if (index < begin) continue;
    for (const part of message.parts) {
      if (part.type === "tool_call") open.add(part.call);
      else if (part.type === "tool_result") open.delete(part.call);
    }
    if (message.role === "system" && !keeps(index)) waiting.push(asUserTurn(message));
    else {
      if (message.role !== "tool") turns.push(...waiting.splice(0));
      turns.push(message);
      if (open.size === 0) turns.push(...waiting.splice(0));
    }
  }
  return { preface: messages.slice(0, begin), turns: [...turns, ...waiting] };
}

/** Whether `prefaced` turns a system message into a user turn. */
export function hasLateSystem(messages: readonly Message[], keeps: (index: number) => boolean = () => false): boolean {
  const begin = messages.findIndex(({ role }, index) => role !== "system" || keeps(index));
  return begin >= 0 && messages.some(({ role }, index) => index > begin && role === "system" && !keeps(index));
}

function asUserTurn(message: Message): Message {
  const parts = message.parts.map((part) =>
    part.type === "text" ? { ...part, text: `<system>\n${part.text}\n</system>` } : part,
  );
  return { ...message, role: "user", parts };
}
