import type { Context } from "@opentelemetry/api";
import { TraceFlags } from "@opentelemetry/api";
import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type Span,
  type SpanExporter,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace";
import type { Drops } from "./drops.ts";

const queueLimit = 16_384;
/** Small, because the SDK encodes a batch in one go: 10 us a span. */
const batch = 512;

/**
 * The SDK's batch processor with losses counted. It limits only queued spans, not those in flight, so the limit is enforced
 * here and its own is never reached.
 */
export class SpanQueue implements SpanProcessor {
  readonly #inner: BatchSpanProcessor;
  readonly #drops: Drops;
  readonly #inFlight = new Set<Promise<void>>();
  #waiting = 0;

  constructor(exporter: SpanExporter, timeout: number, drops: Drops) {
    this.#drops = drops;
    this.#inner = new BatchSpanProcessor({
      exporter: this.#counted(exporter),
      maxQueueSize: queueLimit + batch,
      maxExportBatchSize: batch,
      scheduledDelayMillis: 1_000,
      exportTimeoutMillis: timeout,
    });
  }

  onStart(span: Span, context: Context): void {
    this.#inner.onStart(span, context);
  }

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
    if (this.#waiting >= queueLimit) {
      this.#drops.count("spans", "queue_full", 1);
      return;
    }
    this.#waiting++;
    this.#inner.onEnd(span);
  }

  /** The processor's own flush does not wait for a batch in flight. */
  async forceFlush(): Promise<void> {
    await this.#inner.forceFlush();
    await Promise.all(this.#inFlight);
  }

  shutdown(): Promise<void> {
    return this.#inner.shutdown();
  }

  #counted(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans: ReadableSpan[], done: (result: ExportResult) => void) => {
        const sending = new Promise<void>((resolve) => {
          const settle = (result: ExportResult) => {
            this.#waiting -= spans.length;
            if (result.code !== ExportResultCode.SUCCESS) this.#drops.count("spans", "export_failed", spans.length);
            done(result);
            resolve();
          };
          try {
            exporter.export(spans, settle);
          } catch {
            settle({ code: ExportResultCode.FAILED });
          }
        }).then(() => void this.#inFlight.delete(sending));
        this.#inFlight.add(sending);
      },
      shutdown: () => exporter.shutdown(),
      forceFlush: async () => exporter.forceFlush?.(),
    };
  }
}
