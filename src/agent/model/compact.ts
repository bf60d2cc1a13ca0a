import type { Message } from "../../core/model/messages.ts";
import { estimateMessage } from "./estimate.ts";

/** The share of the context window that messages the model has not read yet may fill before they are shortened. */
const spare = 0.95;
const keptOutput = 400;

export interface ContextRoom {
  readonly contextTokens: number;
  /** Share of the context that the conversation may fill. */
  readonly share: number;
  /** Tokens taken by instructions and tools. */
  readonly reserved: number;
}

/** Tokens available for the conversation. */
export const budgetOf = ({ contextTokens, share, reserved }: ContextRoom): number =>
  Math.max(0, contextTokens * share - reserved);

export interface Compacted {
  readonly messages: readonly Message[];
  /** Number of dropped messages. */
  readonly dropped: number;
}

/**
 * Makes a conversation fit the context. Drops whole old turns first (a user message and everything that answers it, so that
 * calls keep their results and answers the reasoning their vendor requires); if the last turn alone is too long, shortens its
 * tool results, the newest last. System messages stay.
 */
export function compact(messages: readonly Message[], room: ContextRoom | undefined): Compacted {
  if (room === undefined) return { messages, dropped: 0 };
  const { contextTokens, share } = room;
  const budget = budgetOf(room);
  const sizes = messages.map(estimateMessage);
  let total = sizes.reduce((sum, size) => sum + size, 0);
  if (total <= budget) return { messages, dropped: 0 };
  const turns = turnStarts(messages);
  let start = 0;
  for (const turn of turns.slice(1)) {
    if (total <= budget) break;
    for (; start < turn; start++) if (messages[start]?.role !== "system") total -= sizes[start] ?? 0;
  }
  const rules = messages.slice(0, start).filter(({ role }) => role === "system");
  const kept = messages.slice(start);
  const excess = { older: total - budget, newest: total - budget - contextTokens * Math.max(0, spare - share) };
  const shortened = total <= budget ? kept : shortenOutputs(kept, excess);
  if (start === 0) return { messages: shortened, dropped: 0 };
  const dropped = start - rules.length;
  return { messages: dropped === 0 ? [...rules, ...shortened] : [...rules, notice(dropped), ...shortened], dropped };
}

const turnStarts = (messages: readonly Message[]): number[] =>
  messages.flatMap((message, index) =>
    message.role === "user" && messages[index - 1]?.role !== "user" ? [index] : [],
  );

/** Shortens the oldest results first, and the newest only as far as necessary. Amounts in tokens. */
function shortenOutputs(messages: readonly Message[], excess: { older: number; newest: number }): Message[] {
  const last = messages.findLastIndex((message) => message.role === "tool");
  let removed = 0;
  return messages.map((message, index) => {
    if (message.role !== "tool") return message;
    const wanted = 4 * (index === last ? excess.newest : excess.older);
    if (removed >= wanted) return message;
    const parts = message.parts.map((part) => {
      if (part.type !== "tool_result" || removed >= wanted) return part;
      const { hash: _, size = part.output.length, ...shortened } = part;
      if (size <= keptOutput) return part;
      const most = part.output.length - Math.ceil(wanted - removed) - restNotice.length;
      const kept = Math.min(part.output.length, index === last ? Math.max(keptOutput, most) : keptOutput);
      removed += size - kept;
      return { ...shortened, output: part.output.slice(0, kept) + restNotice };
    });
    return { ...message, parts };
  });
}

const restNotice = "\n[the rest was left out to fit the context]";

const notice = (dropped: number): Message => ({
  role: "user",
  parts: [
    { type: "text", text: `[${dropped} earlier messages of this conversation were left out to fit the context]` },
  ],
});
