import type { ErrorJson } from "../../core/errors/errors.ts";
import type { Doing } from "../../core/ports/runs.ts";
import type { EventOf, RunEvent, TerminalEvent } from "../../core/run/events.ts";
import type { AnsweredEvent, AskedEvent } from "../../core/run/questions.ts";
import { RunTimes } from "../../core/run/run-times.ts";
import { pausedName, type TimePart } from "../../core/run/time-parts.ts";
import { Attempt } from "./attempt.ts";
import { Shares } from "./shares.ts";

export interface ToolStory {
  readonly name: string;
  error: ErrorJson | undefined;
  /** The run it started, if it is an agent. */
  child: string | undefined;
  /** Length of its result in characters, and how many of them the model got. */
  cut?: { readonly shown: number; readonly length: number };
}

export interface QuestionStory {
  readonly asks: "approval" | "answer";
  readonly name: string;
  readonly agent: string | undefined;
  answer: Pick<EventOf<"approval.resolved">, "approved" | "by" | "reason" | "signal"> | undefined;
}

/** A failed attempt that was retried on the same model. */
export interface Backoff {
  readonly model: string;
  readonly error: ErrorJson;
  readonly retryMs: number;
}

/** Where a run's time went and what went wrong, according to its events. */
export class Story {
  readonly times: RunTimes;
  readonly attempts: Attempt[] = [];
  readonly backoffs: Backoff[] = [];
  readonly tools = new Map<string, ToolStory>();
  readonly questions: QuestionStory[] = [];
  readonly rejected: EventOf<"tool_call.rejected">[] = [];
  readonly skipped = new Set<string>();
  /** Models chosen by routing, and why. */
  readonly routes: { readonly model: string; readonly reason: string }[] = [];
  /** The last pause of the run (key ""), and of its agent. */
  readonly pauses = new Map<string, EventOf<"run.paused">>();
  started: EventOf<"run.started"> | undefined;
  end: TerminalEvent | undefined;
  resumes = 0;
  /** The run has not ended, and no worker can continue it. */
  stranded = false;
  /** Processes that died while executing the run: how, and which tools were running. */
  readonly crashes: { readonly name: string; readonly tools: readonly string[] }[] = [];
  #attempt: Attempt | undefined;
  #asking = new Map<string, QuestionStory>();
  #shares: Shares | undefined;

  /** `createdAt`: when the run was stored; needed if its events do not say how long it was queued. */
  constructor(createdAt?: number) {
    this.times = new RunTimes(createdAt);
  }

  take(event: RunEvent): void {
    if (event.type === "run.resumed") this.#crashed(event);
    this.times.take(event);
    switch (event.type) {
      case "run.started":
        this.started = event;
        return;
      case "run.resumed":
        // Not a takeover at a fork's first own event, or when a parked run continues after an answer.
        if (this.#asking.size === 0 && event.seq !== (this.started?.fork?.after ?? -1) + 1) this.resumes += 1;
        this.#attempt = undefined;
        return;
      case "run.paused":
        this.pauses.set(pausedName(event.agent), event);
        return;
      case "round.started":
        for (const name of event.skipped ?? []) this.skipped.add(name);
        if (event.reason !== undefined) this.routes.push({ model: event.model, reason: event.reason });
        this.#attempt = new Attempt(event);
        this.attempts.push(this.#attempt);
        return;
      case "text.delta":
      case "reasoning.delta":
      case "refusal.delta":
      case "tool_call.started":
      case "tool_call.delta":
        this.#attempt?.delta(event);
        return;
      case "generation.finished":
        if (this.#attempt) this.#attempt.finish = event.finish;
        return this.#endAttempt(event.at);
      case "generation.failed":
        return this.#fail(event);
      case "tool_call.rejected":
        this.rejected.push(event);
        return;
      case "tool.started":
        this.tools.set(event.call, { name: event.name, error: undefined, child: undefined });
        return;
      case "tool.output":
        return this.#progress(event);
      case "tool.finished":
        return this.#finishTool(event);
      case "approval.requested":
      case "question.asked":
        return this.#ask(event);
      case "approval.resolved":
      case "question.answered":
        return this.#answer(event);
      case "run.finished":
      case "run.failed":
        this.#endAttempt(event.at);
        this.end = event;
        return;
      default:
        return;
    }
  }

  /** Extends a running run's story up to now. */
  until(now: number, doing?: Doing): void {
    this.stranded = doing?.stranded === true;
    this.times.until(now);
    this.#attempt?.goOn(now);
    if (doing !== undefined)
      this.times.carve({ for: doing.part, name: doing.name, from: now - doing.ms, ms: doing.ms });
  }

  /** Only valid for a complete story. */
  get shares(): Shares {
    this.#shares ??= new Shares(this.times.segments);
    return this.#shares;
  }

  /** Who paused it last and why, as a phrase that ends a sentence. */
  pausedBy(name: string): string {
    const { by, reason } = this.pauses.get(name) ?? {};
    return `${by === undefined ? "" : ` by ${by}`}${reason === undefined ? "" : `: ${reason.trim().slice(0, 300)}`}`;
  }

  /** What the run is waiting for. */
  get now(): TimePart {
    return this.times.segments.at(-1)?.part ?? this.times.now.part;
  }

  #crashed({ waited }: EventOf<"run.resumed">): void {
    const name = waited?.find((wait) => wait.for === "down")?.name;
    const { part, name: tools } = this.times.now;
    if (name !== undefined) this.crashes.push({ name, tools: part === "tool" ? tools.split(", ") : [] });
  }

  #fail({ model, error, retryMs, at }: EventOf<"generation.failed">): void {
    if (this.#attempt) this.#attempt.error = error;
    this.#endAttempt(at);
    if (retryMs !== undefined) this.backoffs.push({ model, error, retryMs });
  }

  #endAttempt(at: number): void {
    this.#attempt?.goOn(at);
    this.#attempt = undefined;
  }

  #progress({ call, text }: EventOf<"tool.output">): void {
    const tool = this.tools.get(call);
    if (tool && tool.child === undefined) tool.child = /^run (run_\w+)\n/.exec(text)?.[1];
  }

  #finishTool(event: EventOf<"tool.finished">): void {
    const tool = this.tools.get(event.call) ?? { name: event.name, child: undefined };
    const { shown, length = event.output?.length ?? 0 } = event;
    const cut = shown === undefined ? {} : { cut: { shown, length } };
    this.tools.set(event.call, { ...tool, error: event.ok ? undefined : event.error, ...cut });
  }

  /** A JavaScript plugin may omit the name. */
  #ask({ type, call, name = "", origin }: AskedEvent): void {
    const asks = type === "approval.requested" ? "approval" : "answer";
    const question: QuestionStory = { asks, name, agent: origin?.agent, answer: undefined };
    this.questions.push(question);
    this.#asking.set(call, question);
  }

  #answer(event: AnsweredEvent): void {
    const question = this.#asking.get(event.call);
    this.#asking.delete(event.call);
    if (question === undefined) return;
    question.answer = event.type === "question.answered" ? { ...event, approved: event.answered } : event;
  }
}
