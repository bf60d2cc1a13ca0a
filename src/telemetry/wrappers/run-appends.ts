import type { Span } from "@opentelemetry/api";
import { attributes, spans } from "../base/names.ts";
import type { Origin } from "../base/origin.ts";
import { appendBlock } from "../otlp/block.ts";
import { AppendRows, blockRows } from "../otlp/rows.ts";
import { areTaken, emitBlock, endSpan, type Instrumentation } from "./instrumentation.ts";
import { mark, type Outcome } from "./outcome.ts";

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

/** A run's appends as spans below its root: stored as numbers, failed ones as spans of their own. */
export class RunAppends {
  readonly #measure: Instrumentation;
  readonly #above: Above;
  readonly #limit: number;
  /** Rows of the next block; undefined once nothing takes them any more. */
  #rows: AppendRows | undefined;
  /** Rows of earlier blocks, and those past the limit. */
  #taken = 0;
  #suppressed = 0;

  constructor(measure: Instrumentation, above: Above) {
    this.#measure = measure;
    this.#above = above;
    this.#limit = measure.settings.maxChunkSpans ?? Number.POSITIVE_INFINITY;
    if (above.span.isRecording()) this.#rows = new AppendRows();
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
    if (this.#taken + rows.count < this.#limit) rows.push(events, runs, start, end);
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

  #emit(rows: AppendRows): void {
    const { run, span, origin } = this.#above;
    emitBlock(this.#measure, run, appendBlock(span.spanContext(), origin, rows));
    this.#taken += rows.count;
    rows.clear();
  }
}
