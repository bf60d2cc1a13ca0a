import { performance } from "node:perf_hooks";
import type { Span } from "@opentelemetry/api";
import { wrap } from "../../core/errors/errors.ts";
import type { Append, Journal, Ownership } from "../../core/journal/journal.ts";
import { overriding } from "../../core/values/overriding.ts";
import { attributes, spans } from "../base/names.ts";
import type { Origin } from "../base/origin.ts";
import type { Distribution } from "../metrics/distribution.ts";
import { noAttributes } from "../metrics/instruments.ts";
import { appendBlock } from "../otlp/block.ts";
import { blockRows, Rows } from "../otlp/rows.ts";
import { areTaken, emitBlock, endSpan, type Instrumentation } from "./instrumentation.ts";
import { errorType, failedWith, mark, type Outcome } from "./outcome.ts";

/** An append slower than this is logged, since it delays every run of the process, ms. */
const slow = 1_000;

/** Traces of open runs by id, which record their appends and end when the run is released. */
interface Tracing extends Instrumentation {
  readonly traces: { readonly open: ReadonlyMap<string, { readonly appends: RunAppends; abandon(): void }> };
}

/** Wraps the journal to measure appends. Runs claimed later than enqueued are marked as queued. */
export function measuredJournal(measure: Tracing, journal: Journal, queued: WeakSet<Ownership>): Journal {
  const appends = new Appends(measure);
  return overriding(journal, {
    append(batch) {
      const start = performance.now();
      try {
        const answer = journal.append(batch);
        if (!(answer instanceof Promise)) {
          appends.succeeded(batch, start);
          return answer;
        }
        return answer.then(
          (fenced) => {
            appends.succeeded(batch, start);
            return fenced;
          },
          (thrown: unknown) => {
            appends.failed(batch, start, thrown);
            throw thrown;
          },
        );
      } catch (thrown) {
        appends.failed(batch, start, thrown);
        throw thrown;
      }
    },
    async claim(worker, limit, filter) {
      const claims = await journal.claim(worker, limit, filter);
      for (const claim of claims) queued.add(claim.ownership);
      return claims;
    },
    release(ownership) {
      // After a release, another process traces the run.
      measure.traces.open.get(ownership.run)?.abandon();
      return journal.release(ownership);
    },
  });
}

/** A failed append is retried with the same batch: for its runs it lasts from the first try to the successful one. */
class Appends {
  readonly #measure: Tracing;
  /** Looked up once: every commit records in it. */
  readonly #took: Distribution;
  readonly #open = new WeakMap<readonly Append[], { readonly first: number; tries: number }>();
  /** A field, because every commit reads it. */
  #any = 0;

  constructor(measure: Tracing) {
    this.#measure = measure;
    this.#took = measure.sdk.instruments.appendDuration(noAttributes);
  }

  succeeded(batch: readonly Append[], start: number): void {
    const end = performance.now();
    const open = this.#any === 0 ? undefined : this.#open.get(batch);
    if (open !== undefined) this.#any--;
    if (open !== undefined) this.#open.delete(batch);
    const first = open?.first ?? start;
    this.#took.record((end - first) / 1_000);
    if (end - first >= slow) this.#measure.slowAppend(end - first, batch.length, (open?.tries ?? 0) + 1);
    const traces = this.#measure.traces.open;
    for (const { ownership, events } of batch) {
      if (events.length > 0) traces.get(ownership.run)?.appends.succeeded(events.length, batch.length, first, end);
    }
  }

  /** Each failed try gets a span and a value; the successful one covers the whole time. */
  failed(batch: readonly Append[], start: number, thrown: unknown): void {
    const end = performance.now();
    let open = this.#open.get(batch);
    if (open === undefined) {
      open = { first: start, tries: 0 };
      this.#open.set(batch, open);
      this.#any++;
    }
    const tries = ++open.tries;
    const { sdk, traces } = this.#measure;
    const outcome = failedWith(wrap("journal.append", thrown, "record_invalid"));
    const set = sdk.sets.of({ [attributes.errorType]: errorType(outcome) });
    sdk.instruments.appendDuration(set).record((end - start) / 1_000);
    for (const { ownership, events } of batch) {
      const tried = { events: events.length, runs: batch.length, tries, start, end };
      traces.open.get(ownership.run)?.appends.failed(outcome, tried);
    }
  }
}

/** A failed attempt to store events of a run. */
export interface FailedAppend {
  readonly events: number;
  readonly runs: number;
  readonly tries: number;
  /** `performance.now()` milliseconds. */
  readonly start: number;
  readonly end: number;
}

interface Above {
  readonly run: string;
  readonly span: Span;
  readonly origin: Origin;
}

/** A run's appends as spans below its root: stored as numbers, failed ones as separate spans. */
export class RunAppends {
  readonly #measure: Instrumentation;
  readonly #above: Above;
  readonly #limit: number;
  /** Rows of the next block; undefined once nothing takes them any more. */
  #rows: Rows | undefined;
  /** Rows of earlier blocks, and those past the limit. */
  #taken = 0;
  #suppressed = 0;

  constructor(measure: Instrumentation, above: Above) {
    this.#measure = measure;
    this.#above = above;
    this.#limit = measure.settings.maxChunkSpans ?? Number.POSITIVE_INFINITY;
    if (above.span.isRecording()) this.#rows = new Rows();
  }

  succeeded(events: number, runs: number, start: number, end: number): void {
    const rows = this.#rows;
    if (rows === undefined) return;
    if (rows.count >= blockRows) {
      if (!areTaken(this.#measure, this.#above.run)) {
        rows.release();
        this.#rows = undefined;
        return;
      }
      this.#emit(rows);
    }
    if (this.#taken + rows.count < this.#limit) rows.push(start, end, events, runs);
    else this.#suppressed++;
  }

  /** Called for a failed append that the journal retries. */
  failed(outcome: Outcome, tried: FailedAppend): void {
    const { run, span: parent, origin } = this.#above;
    const span = this.#measure.sdk.tracer.startSpan(
      spans.append,
      {
        startTime: origin.time(tried.start),
        attributes: {
          [attributes.appendEvents]: tried.events,
          [attributes.appendRuns]: tried.runs,
          [attributes.appendTry]: tried.tries,
        },
      },
      parent.spanContext(),
    );
    mark(span, outcome);
    endSpan(this.#measure, run, span, origin.time(tried.end));
  }

  end(): void {
    const rows = this.#rows;
    if (rows === undefined) return;
    if (this.#suppressed > 0) this.#above.span.setAttribute(attributes.appendsSuppressed, this.#suppressed);
    this.#emit(rows);
    rows.release();
  }

  #emit(rows: Rows): void {
    const { run, span, origin } = this.#above;
    emitBlock(this.#measure, run, appendBlock(span.spanContext(), origin, rows));
    this.#taken += rows.count;
    rows.count = 0;
  }
}
