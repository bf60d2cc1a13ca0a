import { type Message, textMessage } from "../../core/model/messages.ts";
import type { EventOf } from "../../core/run/events.ts";

/** The first `messages` of a conversation, of which `session` came before the run, and the summary that stands for them. */
export interface Fold {
  readonly messages: number;
  readonly session: number;
  readonly summary: string;
}

/** `takenOver`: the last event that a fork took over. It has the conversation before the run in its own input. */
export function foldOf(event: EventOf<"context.compacted">, takenOver = 0): Fold | undefined {
  const { seq, summary, range } = event;
  if (summary === undefined || range === undefined) return undefined;
  return { messages: range.messages, session: seq <= takenOver ? 0 : range.session, summary };
}

/** A task longer than this is left to the summary, characters. */
const longestTask = 4_000;

/** The conversation as it is sent: system messages stay, and so does what the user asked for last. */
export function folded(messages: readonly Message[], upTo: number, summary: string): Message[] {
  const [before, after] = [messages.slice(0, upTo), messages.slice(upTo)];
  const rules = before.filter(({ role }) => role === "system");
  const task = after.some(({ role }) => role === "user") ? undefined : before.findLast(({ role }) => role === "user");
  const isShort = task?.parts.every((part) => part.type === "text" && part.text.length <= longestTask);
  return [...rules, summaryMessage(summary), ...(task && isShort ? [task] : []), ...after];
}

/**
 * Where the fold ends in this conversation. Earlier runs of the session may have been removed since: their messages were the
 * oldest, and are in the summary.
 */
export const foldEnd = ({ messages, session }: Fold, sessionNow: number): number =>
  Math.max(0, messages - Math.max(0, session - sessionNow));

/** Positions at which a conversation can be cut: a turn or a round begins, so that no call loses its result. */
export const isCut = (messages: readonly Message[], index: number): boolean => {
  const [before, at] = [messages[index - 1]?.role, messages[index]?.role];
  return (at === "user" && before !== "user") || (at === "assistant" && before === "tool");
};

const opening = "[Summary of the conversation before this point; the messages themselves are no longer shown.]\n";

const summaryMessage = (summary: string): Message => textMessage("user", opening + summary);

/** The summary in a message that `folded` made. */
export function summaryIn({ role, parts: [first] }: Message): string | undefined {
  if (role !== "user" || first?.type !== "text" || !first.text.startsWith(opening)) return undefined;
  return first.text.slice(opening.length);
}
