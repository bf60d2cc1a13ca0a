import type { ErrorJson } from "../../core/errors/errors.ts";
import type { Doing } from "../../core/ports/runs.ts";
import { byWhom } from "../../core/run/by-whom.ts";
import type { EventOf, RunEvent } from "../../core/run/events.ts";
import { type FoldedAttempt, type FoldedCall, RunFold } from "../../core/run/run-fold.ts";
import { pausedName, type TimePart } from "../../core/run/time-parts.ts";
import { Shares } from "./shares.ts";

export interface ToolStory {
  readonly name: string;
  readonly error: ErrorJson | undefined;
  /** The run it started, if it is an agent. */
  readonly child: string | undefined;
  /** Length of its result in characters, and how many of them the model got. */
  readonly cut: { readonly shown: number; readonly length: number } | undefined;
}

export interface QuestionStory {
  readonly asks: "approval" | "answer";
  readonly name: string;
  readonly agent: string | undefined;
  readonly answer: Pick<EventOf<"approval.resolved">, "approved" | "by" | "reason" | "signal"> | undefined;
}

/** Where a run's time went and what went wrong, according to its events. */
export class Story extends RunFold {
  /** The last pause of the run (key ""), and of its agent. */
  readonly pauses = new Map<string, EventOf<"run.paused">>();
  resumes = 0;
  /** The run has not ended, and no worker can continue it. */
  stranded = false;
  /** Processes that died while executing the run: how, and which tools were running. */
  readonly crashes: { readonly name: string; readonly tools: readonly string[] }[] = [];
  #shares: Shares | undefined;

  override take(event: RunEvent): boolean {
    if (event.type === "run.resumed") this.#takenOver(event);
    if (event.type === "run.paused") this.pauses.set(pausedName(event.agent), event);
    return super.take(event);
  }

  get attempts(): readonly FoldedAttempt[] {
    return this.rounds.flatMap(({ attempts }) => attempts);
  }

  /** Failed attempts that were retried on the same model. */
  get backoffs(): readonly (EventOf<"generation.failed"> & { readonly retryMs: number })[] {
    return this.attempts.flatMap(({ outcome }) =>
      outcome?.type === "generation.failed" && outcome.retryMs !== undefined
        ? [{ ...outcome, retryMs: outcome.retryMs }]
        : [],
    );
  }

  get tools(): readonly ToolStory[] {
    return [...this.calls.values()].filter(({ executed, finished }) => executed ?? finished).map(toolStory);
  }

  get rejected(): readonly EventOf<"tool_call.rejected">[] {
    return [...this.calls.values()].flatMap(({ sealed }) => (sealed?.type === "tool_call.rejected" ? [sealed] : []));
  }

  get asked(): readonly QuestionStory[] {
    return this.questions.map(({ asked: { type, name, origin }, answered }) => ({
      asks: type === "approval.requested" ? "approval" : "answer",
      // A JavaScript plugin may omit it.
      name: name ?? "",
      agent: origin?.agent,
      answer: answered?.type === "question.answered" ? { ...answered, approved: answered.answered } : answered,
    }));
  }

  get skipped(): ReadonlySet<string> {
    return new Set(this.attempts.flatMap(({ started }) => started.skipped ?? []));
  }

  /** Models chosen by routing, and why. */
  get routes(): readonly { readonly model: string; readonly reason: string }[] {
    return this.attempts.flatMap(({ model, started: { reason } }) => (reason === undefined ? [] : [{ model, reason }]));
  }

  /** Extends a running run's story up to now. */
  until(now: number, doing?: Doing): void {
    this.stranded = doing?.stranded === true;
    this.times.until(now);
    if (this.attempt?.endedAt === undefined) this.attempt?.goOn(now);
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
    return `${byWhom(by)}${reason === undefined ? "" : `: ${reason.trim().slice(0, 300)}`}`;
  }

  /** What the run is waiting for. */
  get now(): TimePart {
    return this.times.segments.at(-1)?.part ?? this.times.now.part;
  }

  #takenOver({ seq, waited }: EventOf<"run.resumed">): void {
    const name = waited?.find((wait) => wait.for === "down")?.name;
    const { part, name: tools } = this.times.now;
    if (name !== undefined) this.crashes.push({ name, tools: part === "tool" ? tools.split(", ") : [] });
    // Not a takeover at a fork's first own event, or when a parked run continues after an answer.
    if (this.asking.size === 0 && seq !== (this.started?.fork?.after ?? -1) + 1) this.resumes += 1;
  }
}

function toolStory({ name, child, finished }: FoldedCall): ToolStory {
  const { shown, length = finished?.output?.length ?? 0 } = finished ?? {};
  return {
    name,
    child,
    error: finished?.ok === false ? finished.error : undefined,
    cut: shown === undefined ? undefined : { shown, length },
  };
}
