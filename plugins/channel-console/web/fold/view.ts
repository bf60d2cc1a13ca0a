import { type FoldedCall, RunFold } from "venturi/internal/fold";
import type { ErrorBody, EventOf, Message, RunEvent, Usage } from "../state/api-types.ts";

export type { FoldedAttempt as Attempt, FoldedCall as Call, FoldedRound as Round } from "venturi/internal/fold";

/** What the page knows of a run: the fold of its events, and its conversation. Mutable, so that a token costs no copy. */
export class RunView extends RunFold {
  readonly run: string;
  /** The conversation, in the order things happened. */
  items: Item[] = [];
  /** Seqs of events that tell of something that went wrong. */
  mishaps: number[] = [];

  constructor(run: string) {
    super();
    this.run = run;
  }

  get agent(): string {
    return this.started?.agent ?? "";
  }

  get session(): string | undefined {
    return this.started?.session;
  }

  get startedAt(): number {
    return this.times.from;
  }

  get endedAt(): number | undefined {
    return this.end === undefined ? undefined : this.at;
  }

  get usage(): Usage | undefined {
    return this.end?.usage;
  }

  get finish(): string | undefined {
    return this.end?.type === "run.finished" ? this.end.finish : undefined;
  }

  /** The validated object of a run whose agent has an output schema. */
  get object(): unknown {
    return this.end?.type === "run.finished" ? this.end.object : undefined;
  }

  get error(): ErrorBody | undefined {
    return this.end?.type === "run.failed" ? this.end.error : undefined;
  }
}

/** A call's arguments; of a question, what is asked. */
export function argumentsOf({ sealed, question }: FoldedCall): Readonly<Record<string, unknown>> | undefined {
  if (sealed?.type === "tool_call.ready") return sealed.arguments;
  if (question === undefined) return undefined;
  return question.asked.type === "question.asked" ? { question: question.asked.message } : question.asked.arguments;
}

/** What a tool returned, or a person answered. */
export function outputOf({ finished, question }: FoldedCall): string | undefined {
  const answered = question?.answered;
  if (finished !== undefined || answered?.type !== "question.answered") return finished?.output;
  const { answer } = answered;
  return answer === undefined || typeof answer === "string" ? answer : JSON.stringify(answer);
}

/** What a person changed the arguments to. */
export function editedOf(call: FoldedCall): Readonly<Record<string, unknown>> | undefined {
  const answered = call.question?.answered;
  const edited = answered?.type === "approval.resolved" ? answered.arguments : undefined;
  return isSame(edited, argumentsOf(call)) ? undefined : edited;
}

/** A form sends all its fields, changed or not, in its own order. */
function isSame(given: unknown, asked: unknown): boolean {
  if (given === undefined || given === asked) return true;
  if (typeof given !== "object" || typeof asked !== "object" || given === null || asked === null) return false;
  const [one, other] = [Object.entries(given), asked as Readonly<Record<string, unknown>>];
  return (
    one.length === Object.keys(other).length &&
    Array.isArray(given) === Array.isArray(asked) &&
    one.every(([name, value]) => Object.hasOwn(other, name) && isSame(value ?? null, other[name] ?? null))
  );
}

export interface Content {
  readonly mediaType: string;
  readonly data?: string;
  readonly hash?: string;
  readonly size?: number;
  readonly name?: string;
}

export type Item =
  | {
      readonly kind: "user";
      readonly seq: number;
      readonly at: number;
      readonly message: Message;
      readonly steered: boolean;
      /** Id of the key that sent it. */
      readonly by?: string | undefined;
    }
  | Said
  | { readonly kind: "call"; readonly seq: number; readonly call: FoldedCall }
  | Notice;

/** Consecutive text, reasoning or refusal of one attempt. */
export interface Said {
  readonly kind: "text" | "reasoning" | "refusal";
  readonly seq: number;
  readonly round: number;
  readonly attempt: number;
  text: string;
  readonly at: number;
  endAt: number;
  open: boolean;
  retracted: string | undefined;
}

export interface Notice {
  readonly kind: "notice";
  readonly tone: "info" | "warning" | "error";
  readonly seq: number;
  readonly at: number;
  readonly title: string;
  readonly text: string;
  readonly event: RunEvent;
}

export type SaidEvent = EventOf<"text.delta" | "refusal.delta" | "reasoning.delta">;
