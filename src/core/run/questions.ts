import type { EventOf, RunEvent } from "./events.ts";
import type { QuestionKind } from "./question-events.ts";

/** A person is asked: to approve a call, or to answer a tool's question. */
export type AskedEvent = EventOf<"approval.requested" | "question.asked">;
export type AnsweredEvent = EventOf<"approval.resolved" | "question.answered">;

export const isAsked = (event: RunEvent): event is AskedEvent =>
  event.type === "approval.requested" || event.type === "question.asked";
export const isAnswered = (event: RunEvent): event is AnsweredEvent =>
  event.type === "approval.resolved" || event.type === "question.answered";

/** Net change in open questions over these events. Journals store the running sum with the run. */
export function questionsOpened(events: readonly RunEvent[]): number {
  let opened = 0;
  for (const event of events) {
    if (isAsked(event)) opened += 1;
    else if (isAnswered(event)) opened -= 1;
  }
  return opened;
}

/** An unanswered question to a person. */
export interface PendingQuestion {
  readonly kind: "approve" | QuestionKind;
  readonly call: string;
  /** The tool to be approved, or that asks. */
  readonly name: string;
  /** Arguments of the call to be approved; empty for other kinds. */
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly reason?: string;
  /** Highlighted values. */
  readonly show?: readonly { readonly name: string; readonly value: string }[];
  /** For kinds other than `approve`: the question, and how it may be answered. */
  readonly message?: string;
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly choices?: readonly string[];
  readonly url?: string;
  readonly fallback?: unknown;
  /** When it was asked, and when it times out; ms since the epoch. */
  readonly since: number;
  readonly until?: number;
  /** Set when the question comes from a called agent. */
  readonly origin?: { readonly run: string; readonly call: string; readonly agent: string };
}

export function pendingOf({ type: _, run: __, seq: ___, round: ____, at, ...asked }: AskedEvent): PendingQuestion {
  return { kind: "approve", arguments: {}, ...asked, since: at };
}
