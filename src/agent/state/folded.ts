import { type Message, textMessage } from "../../core/model/messages.ts";
import type { EventOf } from "../../core/run/events.ts";

/** The first `messages` messages of a conversation, `session` of which precede the run, and the summary that replaces them. */
export interface Fold {
  readonly messages: number;
  readonly session: number;
  readonly summary: string;
}

/** `takenOver`: the last event copied by a fork, whose input already contains the conversation before the run. */
export function foldOf(event: EventOf<"context.compacted">, takenOver = 0): Fold | undefined {
  const { seq, summary, range } = event;
  if (summary === undefined || range === undefined) return undefined;
  return { messages: range.messages, session: seq <= takenOver ? 0 : range.session, summary };
}

/** Longer tasks are left to the summary, characters. */
const longestTask = 4_000;

/** The conversation as sent, with the summary in place of its beginning. Keeps system messages and the user's last request. */
export function folded(messages: readonly Message[], upTo: number, summary: string): Message[] {
  const [before, after] = [messages.slice(0, upTo), messages.slice(upTo)];
  const rules = before.filter(({ role }) => role === "system");
  const task = after.some(({ role }) => role === "user") ? undefined : before.findLast(({ role }) => role === "user");
  const isShort = task?.parts.every((part) => part.type === "text" && part.text.length <= longestTask);
  return [...rules, summaryMessage(summary), ...(task && isShort ? [task] : []), ...after];
}

/** Where the fold ends in the current session. Runs pruned from the session since then were its oldest, and are covered by the summary. */
export const foldEnd = ({ messages, session }: Fold, sessionNow: number): number =>
  Math.max(0, messages - Math.max(0, session - sessionNow));

/** Whether a conversation can be cut here: at the start of a turn or round, so that no call loses its result. */
export const isCut = (messages: readonly Message[], index: number): boolean => {
  const [before, at] = [messages[index - 1]?.role, messages[index]?.role];
  return (at === "user" && before !== "user") || (at === "assistant" && before === "tool");
};

const opening = "[Summary of the conversation before this point; the messages themselves are no longer shown.]\n";

const summaryMessage = (summary: string): Message => textMessage("user", opening + summary);

/** Reads the summary back from a message made by `folded`. */
export function summaryIn({ role, parts: [first] }: Message): string | undefined {
  if (role !== "user" || first?.type !== "text" || !first.text.startsWith(opening)) return undefined;
  return first.text.slice(opening.length);
}
