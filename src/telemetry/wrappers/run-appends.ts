import type { Span } from "@opentelemetry/api";
import { attributes, spans } from "../base/names.ts";
import type { Origin } from "../base/origin.ts";
import { appendBlock } from "../otlp/block.ts";
import { AppendRecorder } from "../otlp/recorders.ts";
import { blockRows } from "../otlp/rows.ts";
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
  /** Undefined once nothing takes its rows any more. */
  #recorder: AppendRecorder | undefined;

  constructor(measure: Instrumentation, above: Above) {
    this.#measure = measure;
    this.#above = above;
    if (above.span.isRecording())
      this.#recorder = new AppendRecorder(measure.settings.maxChunkSpans ?? Number.POSITIVE_INFINITY);
  }

  succeeded(events: number, runs: number, start: number, end: number): void {
    if (this.#recorder === undefined) return;
    if (this.#recorder.rows.count >= blockRows) {
      if (!areTaken(this.#measure, this.#above.run)) {
        this.#recorder.rows.release();
        this.#recorder = undefined;
        return;
      }
      this.#emit(this.#recorder);
    }
    this.#recorder.push(events, runs, start, end);
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
    if (this.#recorder === undefined) return;
    const { suppressed } = this.#recorder;
    if (suppressed > 0) this.#above.span.setAttribute(attributes.appendsSuppressed, suppressed);
    this.#emit(this.#recorder);
    this.#recorder.rows.release();
  }

  #emit(recorder: AppendRecorder): void {
    const { run, span, origin } = this.#above;
    emitBlock(this.#measure, run, appendBlock(span.spanContext(), origin, recorder.rows));
    recorder.clear();
  }
}
