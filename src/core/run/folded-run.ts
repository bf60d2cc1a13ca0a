import type { EventOf, EventType, RunEvent } from "./events.ts";
import type { AnsweredEvent, AskedEvent } from "./questions.ts";

export class FoldedAttempt {
  readonly started: EventOf<"round.started">;
  readonly startedAt: number;
  firstAt: number | undefined;
  endedAt: number | undefined;
  outcome: EventOf<"generation.finished" | "generation.failed"> | undefined;
  /** Why the run took back what it said. */
  retracted: string | undefined;
  deltas = 0;
  characters = 0;
  /** The longest gap within the stream, and the number of deltas before it. */
  longestGap = 0;
  gapAfter = 0;
  /** Times of the deltas; written by who draws them. */
  ticks: number[] = [];
  #at: number;

  constructor(started: EventOf<"round.started">, at: number) {
    this.started = started;
    this.startedAt = at;
    this.#at = at;
  }

  get model(): string {
    return this.started.model;
  }

  get round(): number {
    return this.started.round;
  }

  get error(): EventOf<"generation.failed">["error"] | undefined {
    return this.outcome?.type === "generation.failed" ? this.outcome.error : undefined;
  }

  get finish(): string | undefined {
    return this.outcome?.type === "generation.finished" ? this.outcome.finish : undefined;
  }

  get ms(): number {
    return this.#at - this.startedAt;
  }

  delta(event: RunEvent, at: number): void {
    this.firstAt ??= at;
    this.goOn(at);
    this.deltas += 1;
    if (event.type === "tool_call.delta") this.characters += event.arguments.length;
    else if ("text" in event) this.characters += event.text?.length ?? 0;
  }

  /** It lasted until here at least. */
  goOn(at: number): void {
    const gap = at - this.#at;
    this.#at = Math.max(this.#at, at);
    if (this.deltas === 0 || gap <= this.longestGap) return;
    this.longestGap = gap;
    this.gapAfter = this.deltas;
  }

  end(at: number): void {
    if (this.endedAt !== undefined) return;
    this.goOn(at);
    this.endedAt = at;
  }

  copy(): FoldedAttempt {
    const copy = new FoldedAttempt(this.started, this.startedAt);
    Object.assign(copy, this, { ticks: [...this.ticks] });
    copy.#at = this.#at;
    return copy;
  }
}

/** What a person was asked: to approve a call, or a tool's question. */
export interface FoldedQuestion {
  readonly asked: AskedEvent;
  answered: AnsweredEvent | undefined;
}

/** How far a call has come. `refused`: by a person. `client`: left to the client. */
export type CallProgress =
  | "writing"
  | "ready"
  | "asking"
  | "running"
  | "done"
  | "failed"
  | "rejected"
  | "refused"
  | "client";

/** A tool call, or the question of a running tool, which has a call id of its own. */
export class FoldedCall {
  readonly id: string;
  readonly round: number;
  readonly name: string;
  readonly seq: number;
  lastSeq: number;
  state: CallProgress = "writing";
  readonly startedAt: number;
  readyAt: number | undefined;
  /** When its tool was started first. */
  executedAt: number | undefined;
  endedAt: number | undefined;
  sealed: EventOf<"tool_call.ready" | "tool_call.rejected"> | undefined;
  executed: EventOf<"tool.started"> | undefined;
  finished: EventOf<"tool.finished"> | undefined;
  /** The last question about it. */
  question: FoldedQuestion | undefined;
  /** The run it started, when it is an agent. */
  child: string | undefined;
  retracted: string | undefined;
  /** What streams, its arguments and its progress; written by who shows them. */
  argumentsText = "";
  progress = "";

  constructor(event: EventOfCall, at: number) {
    this.id = event.call;
    this.round = event.round;
    this.name = "name" in event ? event.name : "unknown";
    this.seq = event.seq;
    this.lastSeq = event.seq;
    this.startedAt = at;
  }

  get error(): EventOf<"run.failed">["error"] | undefined {
    return this.finished?.error ?? (this.sealed?.type === "tool_call.rejected" ? this.sealed.error : undefined);
  }

  copy(question: FoldedQuestion | undefined): FoldedCall {
    return Object.assign(Object.create(FoldedCall.prototype), this, { question });
  }
}

/** Of the events that name a call, those that tell how far it is. */
export type EventOfCall = EventOf<
  | Extract<EventType, `tool_call.${string}` | `tool.${string}`>
  | "approval.requested"
  | "approval.resolved"
  | "question.asked"
  | "question.answered"
>;

export interface FoldedRound {
  readonly round: number;
  readonly seq: number;
  readonly startedAt: number;
  endedAt: number | undefined;
  readonly attempts: FoldedAttempt[];
  readonly calls: FoldedCall[];
}

export const isRefusal = (answered: AnsweredEvent | undefined): boolean =>
  answered !== undefined && (answered.type === "question.answered" ? !answered.answered : !answered.approved);
