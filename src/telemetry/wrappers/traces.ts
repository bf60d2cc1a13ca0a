import type { SpanContext } from "@opentelemetry/api";
import type { Instrumentation } from "./instrumentation.ts";
import type { RunTrace } from "./run-trace.ts";

const mostOpen = 20_000;
const mostRemembered = 10_000;

/** What the wrappers need: instrumentation and the running runs. */
export interface Tracing extends Instrumentation {
  readonly traces: Traces;
}

/** Traces of running runs, and the span contexts of recently ended ones for late followers. */
export class Traces {
  /** By run. Changed by `add` and `remove` only. */
  readonly open: ReadonlyMap<string, RunTrace>;
  readonly #open = new Map<string, RunTrace>();
  readonly #ended = new Map<string, SpanContext>();

  constructor() {
    this.open = this.#open;
  }

  spanContext(run: string): SpanContext | undefined {
    return this.#open.get(run)?.span.spanContext() ?? this.#ended.get(run);
  }

  add(trace: RunTrace): void {
    this.#open.get(trace.run)?.abandon();
    this.#open.set(trace.run, trace);
    if (this.#open.size <= mostOpen) return;
    const oldest = this.#open.values().next().value;
    oldest?.abandon();
  }

  remove(trace: RunTrace): void {
    if (this.#open.get(trace.run) === trace) this.#open.delete(trace.run);
    this.#ended.delete(trace.run);
    this.#ended.set(trace.run, trace.span.spanContext());
    if (this.#ended.size <= mostRemembered) return;
    const oldest = this.#ended.keys().next().value;
    if (oldest !== undefined) this.#ended.delete(oldest);
  }

  stalled(ms: number, culprit: string | undefined): void {
    for (const trace of this.#open.values()) trace.stalled(ms, culprit);
  }

  close(): void {
    for (const trace of [...this.#open.values()]) trace.abandon();
  }
}
