import type { EventOf, RunEvent, TerminalEvent } from "./events.ts";
import {
  type EventOfCall,
  FoldedAttempt,
  FoldedCall,
  type FoldedQuestion,
  type FoldedRound,
  isRefusal,
} from "./folded-run.ts";
import type { AnsweredEvent, AskedEvent } from "./questions.ts";
import { RunTimes } from "./run-times.ts";
import { isPiece } from "./time-parts.ts";

export * from "./folded-run.ts";

/**
 * What a run's events say of it: the one fold for all who show a run, so that no two of them disagree. Events are kept where they
 * belong, and a view reads from them what it shows. In constant time for each event; never throws, since what an event refers to
 * may be missing when its journal was cut. Imports nothing that a browser would have to load but `RunTimes`.
 */
export class RunFold {
  /** Seq and time of the last event. Time never runs backwards: clocks of two workers may differ. */
  head = 0;
  at = 0;
  started: EventOf<"run.started"> | undefined;
  end: TerminalEvent | undefined;
  times: RunTimes;
  rounds: FoldedRound[] = [];
  calls = new Map<string, FoldedCall>();
  questions: FoldedQuestion[] = [];
  /** Unanswered ones by call, oldest first. */
  asking = new Map<string, FoldedQuestion>();
  /** Pieces of text, reasoning and arguments so far: an estimate of the tokens while the run is under way. */
  deltas = 0;

  /** `createdAt`: as of `RunTimes`. */
  constructor(createdAt?: number) {
    this.times = new RunTimes(createdAt);
  }

  get status(): "ready" | "running" | "waiting" | "finished" | "failed" | "cancelled" {
    const { end } = this;
    if (end?.type === "run.finished") return "finished";
    // What a person stopped has not failed.
    if (end !== undefined) return end.error.code === "stream_interrupted" ? "cancelled" : "failed";
    return this.asking.size > 0 ? "waiting" : this.started === undefined ? "ready" : "running";
  }

  get attempt(): FoldedAttempt | undefined {
    return this.rounds.at(-1)?.attempts.at(-1);
  }

  /** False: it was seen before, so that a reader may resume anywhere. */
  take(event: RunEvent): boolean {
    if (event.seq <= this.head) return false;
    this.head = event.seq;
    this.at = Math.max(this.at, event.at);
    this.times.take(event);
    if (isPiece(event)) {
      this.deltas += 1;
      this.attempt?.delta(event, this.at);
    }
    this.#change(event);
    return true;
  }

  #change(event: RunEvent): void {
    switch (event.type) {
      case "run.started":
        this.started = event;
        return;
      case "round.started": {
        this.attempt?.end(this.at);
        const attempt = new FoldedAttempt(event, this.at);
        const round = this.roundOf(event.round);
        if (round !== undefined) round.attempts.push(attempt);
        else this.rounds.push(newRound(event, attempt));
        return;
      }
      case "generation.finished":
      case "generation.failed":
        if (this.attempt === undefined) return;
        this.attempt.outcome = event;
        return this.attempt.end(this.at);
      case "round.retracted":
        return this.#retract(event);
      case "run.resumed":
      case "run.paused":
        return this.attempt?.end(this.at);
      case "round.finished":
        return this.#endRound(this.roundOf(event.round));
      case "run.finished":
      case "run.failed":
        this.end = event;
        this.attempt?.end(this.at);
        return this.#endRound(this.rounds.at(-1));
      case "approval.requested":
      case "question.asked":
        return this.#ask(event);
      case "approval.resolved":
      case "question.answered":
        return this.#answer(event);
      case "tool_call.started":
      case "tool_call.delta":
      case "tool_call.ready":
      case "tool_call.rejected":
      case "tool.started":
      case "tool.output":
      case "tool.finished":
        return this.#call(event);
    }
  }

  #call(event: EventOfCall): void {
    const call = this.#callOf(event);
    switch (event.type) {
      case "tool_call.started":
        if (event.client === true) call.state = "client";
        return;
      case "tool_call.ready":
        call.sealed = event;
        call.readyAt = this.at;
        if (call.state === "writing") call.state = "ready";
        return;
      case "tool_call.rejected":
        call.sealed = event;
        call.readyAt = this.at;
        call.endedAt = this.at;
        call.state = "rejected";
        return;
      case "tool.started":
        call.executed = event;
        call.executedAt ??= this.at;
        call.state = "running";
        return;
      case "tool.output":
        call.child ??= /^run (run_\w+)\n/.exec(event.text)?.[1];
        return;
      case "tool.finished":
        call.finished = event;
        call.endedAt = this.at;
        call.state = isRefusal(call.question?.answered) ? "refused" : event.ok ? "done" : "failed";
    }
  }

  #ask(asked: AskedEvent): void {
    const question: FoldedQuestion = { asked, answered: undefined };
    this.questions.push(question);
    this.asking.set(asked.call, question);
    const call = this.#callOf(asked);
    call.question = question;
    if (call.state !== "running") call.state = "asking";
  }

  #answer(event: AnsweredEvent): void {
    const question = this.asking.get(event.call);
    this.asking.delete(event.call);
    if (question !== undefined) question.answered = event;
    const call = this.#callOf(event);
    if (event.type === "question.answered") {
      call.state = event.answered ? "done" : "refused";
      call.endedAt = this.at;
    } else if (call.state === "asking") call.state = event.approved ? "ready" : "refused";
  }

  #retract({ round, reason }: EventOf<"round.retracted">): void {
    for (const call of this.roundOf(round)?.calls ?? []) call.retracted ??= reason;
    if (this.attempt === undefined) return;
    this.attempt.retracted = reason;
    this.attempt.end(this.at);
  }

  #endRound(round: FoldedRound | undefined): void {
    if (round !== undefined) round.endedAt ??= this.at;
  }

  roundOf(number: number): FoldedRound | undefined {
    const last = this.rounds.at(-1);
    return last?.round === number ? last : this.rounds.find(({ round }) => round === number);
  }

  /** A call named by a later event whose beginning is missing is made up from it. */
  #callOf(event: EventOfCall): FoldedCall {
    const known = this.calls.get(event.call);
    if (known !== undefined && event.type !== "tool_call.started") {
      known.lastSeq = event.seq;
      return known;
    }
    const call = new FoldedCall(event, this.at);
    this.calls.set(event.call, call);
    this.roundOf(event.round)?.calls.push(call);
    return call;
  }
}

const newRound = ({ round, seq }: EventOf<"round.started">, attempt: FoldedAttempt): FoldedRound => ({
  round,
  seq,
  startedAt: attempt.startedAt,
  endedAt: undefined,
  attempts: [attempt],
  calls: [],
});
