import { performance } from "node:perf_hooks";
import type { Claim } from "../../core/journal/journal.ts";
import { type RunLog, WrappedLog } from "../../core/journal/run-log.ts";
import type { EventBody, RunEvent } from "../../core/run/events.ts";
import { keepOne } from "../../core/values/keep-one.ts";
import { RunTrace } from "./run-trace.ts";
import { countRejected, toolFinished } from "./tool.ts";
import type { Tracing } from "./traces.ts";

export interface RunLogFacts {
  readonly history: readonly RunEvent[];
  readonly queued: boolean;
}

/**
 * Observes a run's log: run and round spans are derived from its events. The trace ends once the terminal event is durable, so
 * that its append is still included.
 */
export class MeasuredLog extends WrappedLog {
  readonly #measure: Tracing;
  readonly #claim: Claim;
  readonly #queued: boolean;
  #history: readonly RunEvent[];
  /** When this process claimed the run: start of the root span. */
  readonly #startedAt = performance.now();
  #trace: RunTrace | undefined;
  #ending: Extract<EventBody, { type: "run.finished" | "run.failed" }> | undefined;

  constructor(measure: Tracing, inner: RunLog, claim: Claim, facts: RunLogFacts) {
    super(inner);
    this.#measure = measure;
    this.#claim = claim;
    this.#queued = facts.queued;
    this.#history = facts.history;
    const started = facts.history.find((event) => event.type === "run.started");
    if (started !== undefined) {
      this.#open({ agent: started.agent, config: started.config, earlier: started.trace, resumed: true });
    }
    if (inner.signal.aborted) this.#trace?.abandon();
    else inner.signal.addEventListener("abort", () => this.#trace?.abandon(), { once: true });
    keepOne(this);
  }

  /** Asked for every delta: here, so that its path is one file shorter. */
  override get pressure(): Promise<void> | undefined {
    return this.log.pressure;
  }

  override write(body: EventBody): RunEvent {
    // The most frequent events; they are measured elsewhere.
    if (body.type === "text.delta" || body.type === "tool_call.delta") return this.log.write(body);
    return this.log.write(this.#seen(body));
  }

  override async flush(): Promise<void> {
    try {
      await this.log.flush();
    } finally {
      this.#finish();
    }
  }

  override async step(body: EventBody): Promise<RunEvent> {
    try {
      return await this.log.step(this.#seen(body));
    } finally {
      this.#finish();
    }
  }

  override async park(seenSignals: number, wakeAfter?: number): Promise<void> {
    try {
      await this.log.park(seenSignals, wakeAfter);
    } finally {
      this.#trace?.parked();
    }
  }

  #seen(body: EventBody): EventBody {
    const seen = this.#observe(body);
    if (body.waited !== undefined) for (const wait of body.waited) this.#trace?.waited(wait);
    return seen;
  }

  #observe(body: EventBody): EventBody {
    switch (body.type) {
      case "run.started":
        this.#open({ agent: body.agent, config: body.config, earlier: undefined, resumed: false });
        return this.#trace === undefined ? body : { ...body, trace: this.#trace.traceparent };
      case "run.resumed":
        return this.#trace === undefined ? body : { ...body, trace: this.#trace.traceparent };
      case "round.started":
        this.#trace?.roundStarted(body);
        return body;
      case "round.retracted":
        this.#trace?.roundRetracted(body);
        return body;
      case "round.finished":
        this.#trace?.roundFinished(body);
        return body;
      case "generation.failed":
        this.#trace?.generationFailed(body);
        this.#trace?.spent(body);
        return body;
      case "generation.finished":
      case "context.compacted":
      case "memory.recalled":
        this.#trace?.spent(body);
        return body;
      case "tool.finished":
        this.#trace?.toolFinished(body.ok);
        if (this.#trace !== undefined) toolFinished(this.#measure, this.#trace, body);
        return body;
      case "tool_call.rejected":
        countRejected(this.#measure, body);
        this.#trace?.callRejected(body);
        return body;
      case "run.finished":
      case "run.failed":
        this.#ending = body;
        return body;
      default:
        return body;
    }
  }

  #open(facts: { agent: string; config: string | undefined; earlier: string | undefined; resumed: boolean }): void {
    this.#trace = new RunTrace(this.#measure, this.#claim, {
      ...facts,
      queued: this.#queued,
      before: countOf(this.#history),
      startedAt: this.#startedAt,
      register: this.#measure.traces,
    });
    this.#history = [];
  }

  #finish(): void {
    if (this.#ending === undefined) return;
    this.#trace?.finished(this.#ending);
    this.#ending = undefined;
  }
}

function countOf(history: readonly RunEvent[]): { generations: number; toolCalls: number } {
  let generations = 0;
  let toolCalls = 0;
  for (const { type } of history) {
    if (type === "round.started") generations++;
    else if (type === "tool.finished" || type === "tool_call.rejected") toolCalls++;
  }
  return { generations, toolCalls };
}
