import type { ReadableSpan, Span, SpanProcessor } from "@opentelemetry/sdk-trace";

/** Knows which spans were started and not ended, and keeps those that were. */
export class OpenSpans implements SpanProcessor {
  readonly open = new Map<string, string>();
  readonly ended: ReadableSpan[] = [];

  onStart(span: Span): void {
    this.open.set(span.spanContext().spanId, span.name);
  }
  onEnd(span: ReadableSpan): void {
    this.open.delete(span.spanContext().spanId);
    this.ended.push(span);
  }
  async forceFlush(): Promise<void> {}
  async shutdown(): Promise<void> {}

  /** Spans whose parent was never ended here and that do not start a trace. */
  orphans(): string[] {
    const ids = new Set(this.ended.map((span) => span.spanContext().spanId));
    return this.ended
      .filter(({ parentSpanContext: parent }) => parent !== undefined && !parent.isRemote && !ids.has(parent.spanId))
      .map((span) => span.name);
  }

  named(name: string): ReadableSpan[] {
    return this.ended.filter((span) => span.name === name);
  }
}
