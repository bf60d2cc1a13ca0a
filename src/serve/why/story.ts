import type { ErrorJson } from "../../core/errors/errors.ts";
import type { EventOf, RunEvent, TerminalEvent } from "../../core/run/events.ts";
import { Attempt } from "./attempt.ts";
import { type Part, Shares } from "./shares.ts";

export interface ToolStory {
  readonly name: string;
  readonly startedAt: number;
  ms: number;
  error: ErrorJson | undefined;
  /** The run it started, if it is an agent. */
  child: string | undefined;
}

export interface QuestionStory {
  readonly name: string;
  readonly agent: string | undefined;
  readonly since: number;
  ms: number | undefined;
  answer: EventOf<"approval.resolved"> | undefined;
}

/** A failed attempt that was retried on the same model. */
export interface Backoff {
  readonly model: string;
  readonly error: ErrorJson;
  readonly retryMs: number;
}

/**
 * Where a run's time went and what went wrong, according to its events. Between two events exactly one activity is charged, so
 * the shares add up to the time from the first event to the last.
 */
export class Story {
  readonly shares = new Shares();
  readonly attempts: Attempt[] = [];
  readonly backoffs: Backoff[] = [];
  readonly tools = new Map<string, ToolStory>();
  readonly questions: QuestionStory[] = [];
  readonly rejected: EventOf<"tool_call.rejected">[] = [];
  readonly skipped = new Set<string>();
  started: EventOf<"run.started"> | undefined;
  end: TerminalEvent | undefined;
  resumes = 0;
  compactions = 0;
  at = 0;
  #attempt: Attempt | undefined;
  #waits: Backoff | undefined;
  #running = new Map<string, string>();
  #asking = new Map<string, QuestionStory>();

  /** `createdAt`: when the run was requested, which may be long before it started. */
  constructor(createdAt: number) {
    this.at = createdAt;
  }

  take(event: RunEvent): void {
    this.#account(event);
    switch (event.type) {
      case "run.started":
        this.started = event;
        return;
      case "run.resumed":
        this.resumes += 1;
        this.#endAttempt();
        return;
      case "round.started":
        return this.#begin(event);
      case "text.delta":
      case "reasoning.delta":
      case "refusal.delta":
      case "tool_call.started":
      case "tool_call.delta":
        this.#attempt?.delta(event);
        return;
      case "generation.finished":
        if (this.#attempt) this.#attempt.finish = event.finish;
        return this.#endAttempt();
      case "generation.failed":
        return this.#fail(event);
      case "tool_call.rejected":
        this.rejected.push(event);
        return;
      case "tool.started":
        this.#running.set(event.call, event.name);
        this.tools.set(event.call, {
          name: event.name,
          startedAt: event.at,
          ms: 0,
          error: undefined,
          child: undefined,
        });
        return;
      case "tool.output":
        return this.#progress(event);
      case "tool.finished":
        return this.#finishTool(event);
      case "approval.requested":
        return this.#ask(event);
      case "approval.resolved":
        return this.#answer(event);
      case "context.compacted":
        this.compactions += 1;
        return;
      case "run.finished":
      case "run.failed":
        this.#endAttempt();
        this.end = event;
        return;
      default:
        return;
    }
  }

  /** Extends a running run's story up to now. */
  until(now: number): void {
    this.#spend(this.#owner, now);
    this.#endAttempt();
  }

  /** What the run is waiting for. */
  get now(): Part {
    return this.#owner.part;
  }

  #account(event: RunEvent): void {
    if (event.type === "run.started") return this.#spend({ part: "queue", name: "" }, event.at);
    const parked = this.#asking.size > 0;
    if (event.type === "run.resumed" && !parked) return this.#spend({ part: "down", name: "" }, event.at);
    this.#spend(this.#owner, event.at);
  }

  #spend({ part, name }: { part: Part; name: string }, at: number): void {
    // A clock that was set back must not subtract time.
    const ms = Math.max(0, at - this.at);
    this.at = Math.max(this.at, at);
    if (part === "providerWait" || part === "providerStream") this.#attempt?.spend(part, ms);
    else this.shares.add(part, name, ms);
  }

  get #owner(): { part: Part; name: string } {
    if (this.#attempt)
      return { part: this.#attempt.begun ? "providerStream" : "providerWait", name: this.#attempt.model };
    const working = [...this.#running].filter(([call]) => !this.#isAsking(call));
    if (working.length > 0) return { part: "tool", name: [...new Set(working.map(([, name]) => name))].join(", ") };
    const [question] = this.#asking.values();
    if (question) return { part: "approval", name: question.name };
    if (this.#waits) return { part: "backoff", name: this.#waits.model };
    return { part: "runtime", name: "" };
  }

  /** A running tool's questions have ids that begin with its call id. */
  #isAsking(call: string): boolean {
    return [...this.#asking.keys()].some((asked) => asked.startsWith(`${call}.`));
  }

  #begin({ model, round, attempt, skipped }: EventOf<"round.started">): void {
    this.#endAttempt();
    this.#waits = undefined;
    for (const name of skipped ?? []) this.skipped.add(name);
    this.#attempt = new Attempt({ model, round, attempt });
    this.attempts.push(this.#attempt);
  }

  #fail({ model, error, retryMs }: EventOf<"generation.failed">): void {
    if (this.#attempt) this.#attempt.error = error;
    this.#endAttempt();
    if (retryMs === undefined) return;
    this.#waits = { model, error, retryMs };
    this.backoffs.push(this.#waits);
  }

  #endAttempt(): void {
    this.#attempt?.tellShares(this.shares);
    this.#attempt = undefined;
  }

  #progress({ call, text }: EventOf<"tool.output">): void {
    const tool = this.tools.get(call);
    if (tool && tool.child === undefined) tool.child = /^run (run_\w+)\n/.exec(text)?.[1];
  }

  #finishTool(event: EventOf<"tool.finished">): void {
    this.#running.delete(event.call);
    const begun = this.tools.get(event.call);
    const tool = begun ?? { name: event.name, startedAt: event.at, ms: 0, error: undefined, child: undefined };
    this.tools.set(event.call, { ...tool, ms: event.ms, error: event.ok ? undefined : event.error });
  }

  #ask({ call, name, at, origin }: EventOf<"approval.requested">): void {
    const question = { name, agent: origin?.agent, since: at, ms: undefined, answer: undefined };
    this.questions.push(question);
    this.#asking.set(call, question);
  }

  #answer(event: EventOf<"approval.resolved">): void {
    const question = this.#asking.get(event.call);
    this.#asking.delete(event.call);
    if (question === undefined) return;
    question.answer = event;
    question.ms = Math.max(0, event.at - question.since);
  }
}
