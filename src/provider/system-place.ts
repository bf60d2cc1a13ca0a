import type { Message } from "../core/model/messages.ts";

/** A conversation for a wire whose system text stands before it. */
export interface Prefaced {
  /** The system messages before everything else. */
  readonly preface: readonly Message[];
  /** Everything else in its order; a later system message is a user turn that says so. */
  readonly turns: readonly Message[];
}

/**
 * Leaves system messages where they are: one at the beginning belongs to the system text, one within the conversation has its
 * place there. Between a call and its result it waits for the result, because vendors refuse anything between the two.
 * `keeps`: the wire has a place for the message at this index.
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
    const isSystem = message.role === "system" && !keeps(index);
    if (isSystem && open.size > 0) waiting.push(asUserTurn(message));
    else {
      if (message.role !== "tool") turns.push(...waiting.splice(0));
      turns.push(isSystem ? asUserTurn(message) : message);
      if (open.size === 0) turns.push(...waiting.splice(0));
    }
  }
  return { preface: messages.slice(0, begin), turns: [...turns, ...waiting] };
}

/** Whether `prefaced` makes a user turn of a system message. */
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
