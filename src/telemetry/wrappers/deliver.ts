import { performance } from "node:perf_hooks";
import { type Span, trace } from "@opentelemetry/api";
import { PolledStream, polled } from "../../core/ports/polled-stream.ts";
import type { FollowOptions, Runs } from "../../core/ports/runs.ts";
import { encodedSize } from "../../core/run/encode-event.ts";
import { isTerminal, type RunEvent } from "../../core/run/events.ts";
import type { RunRequest } from "../../core/run/run-request.ts";
import { keepOne } from "../../core/values/keep-one.ts";
import { overriding } from "../../core/values/overriding.ts";
import { attributes, spans } from "../base/names.ts";
import { originNow } from "../base/origin.ts";
import { formatTraceparent, parseTraceparent } from "../base/traceparent.ts";
import { endSpan } from "./instrumentation.ts";
import { cancelled, good, mark, type Outcome, outcomeOf } from "./outcome.ts";
import type { Tracing } from "./traces.ts";

/** Wraps `Runs` with a span per follower. */
export function measuredRuns(measure: Tracing, runs: Runs, open: Set<Delivery>): Runs {
  return overriding(runs, {
    start: (request, options) => runs.start(within(request), options),
    follow: (run, options) => new Delivery(measure, runs, { run, options }, open),
  });
}

/** A run started inside a caller's span becomes its child. */
function within(request: RunRequest): RunRequest {
  const around = request.traceparent === undefined ? trace.getActiveSpan()?.spanContext() : undefined;
  return around === undefined ? request : { ...request, traceparent: formatTraceparent(around) };
}

type Batch = readonly RunEvent[];

/** One follower. The time between taking a batch and requesting the next is backpressure from the client. */
export class Delivery extends PolledStream<Batch> {
  readonly #measure: Tracing;
  readonly #run: string;
  readonly #options: FollowOptions | undefined;
  readonly #runs: Runs;
  readonly #open: Set<Delivery>;
  readonly #origin = originNow();
  #inner: PolledStream<Batch> | undefined;
  #span: Span | undefined;
  #started = 0;
  #given: Batch | undefined;
  #givenAt = 0;
  #events = 0;
  #bytes = 0;
  #stalled = 0;
  /** Its reader has had the terminal event. */
  #isEnded = false;
  #over = false;

  constructor(
    measure: Tracing,
    runs: Runs,
    follower: { run: string; options: FollowOptions | undefined },
    open: Set<Delivery>,
  ) {
    super();
    this.#measure = measure;
    this.#run = follower.run;
    this.#options = follower.options;
    this.#runs = runs;
    this.#open = open;
    keepOne(this);
  }

  poll(): IteratorResult<Batch, undefined> | undefined {
    if (this.#over) return { done: true, value: undefined };
    try {
      this.#inner ??= this.#start();
      this.#taken();
      const step = this.#inner.poll();
      if (step?.done) this.end(good);
      else if (step !== undefined) {
        this.#span ??= this.#begin(step.value);
        this.#given = step.value;
        this.#givenAt = performance.now();
      }
      return step;
    } catch (thrown) {
      this.end(outcomeOf(thrown, this.#options?.signal));
      throw thrown;
    }
  }

  arrival(): Promise<void> {
    return this.#inner?.arrival() ?? Promise.resolve();
  }

  async return(): Promise<IteratorResult<Batch, undefined>> {
    // Leaving after the terminal event is not an abort.
    this.#taken();
    this.end(this.#isEnded ? good : cancelled);
    await this.#inner?.return();
    return { done: true, value: undefined };
  }

  end(outcome: Outcome): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#inner === undefined) return;
    this.#taken();
    this.#open.delete(this);
    const { instruments } = this.#measure.sdk;
    const now = performance.now();
    instruments.followersActive.value--;
    instruments.deliverDuration.record((now - this.#started) / 1_000);
    const span = this.#span ?? this.#begin(undefined);
    span.setAttribute(attributes.deliverEvents, this.#events);
    span.setAttribute(attributes.deliverBytes, this.#bytes);
    span.setAttribute(attributes.deliverStalled, Math.round(this.#stalled * 1_000) / 1_000);
    mark(span, outcome);
    endSpan(this.#measure, this.#run, span, this.#origin.time(now));
  }

  #start(): PolledStream<Batch> {
    this.#started = performance.now();
    this.#open.add(this);
    this.#measure.sdk.instruments.followersActive.value++;
    return polled(this.#runs.follow(this.#run, this.#options));
  }

  /** The batch was consumed: if its events were encoded, their size is cached and costs nothing to read. */
  #taken(): void {
    if (this.#given === undefined) return;
    this.#events += this.#given.length;
    this.#stalled += performance.now() - this.#givenAt;
    for (const event of this.#given) {
      this.#bytes += encodedSize(event);
      this.#isEnded ||= isTerminal(event);
    }
    this.#given = undefined;
  }

  /** A child of the run's root span, known from a run executing here or from the first event. */
  #begin(batch: Batch | undefined): Span {
    const first = batch?.[0];
    const stored = first?.type === "run.started" ? parseTraceparent(first.trace) : undefined;
    const channel = this.#options?.channel ?? "library";
    return this.#measure.sdk.tracer.startSpan(
      `${spans.deliver} ${channel}`,
      {
        startTime: this.#origin.time(this.#started),
        attributes: { [attributes.channel]: channel, [attributes.run]: this.#run },
      },
      this.#measure.traces.spanContext(this.#run) ?? stored,
    );
  }
}
