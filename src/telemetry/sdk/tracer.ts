import {
  type Tracer as ApiTracer,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import { RandomIdGenerator, type Sampler, SamplingDecision } from "@opentelemetry/sdk-trace";
import { contextOf } from "../base/traceparent.ts";
import { LeanSpan, type SpanDefaults } from "./lean-span.ts";

/** Starts spans. Takes the parent as a span context, because building an API context per span costs more than the span. */
export interface Tracer {
  startSpan(name: string, options: SpanOptions, parent: SpanContext | undefined): Span;
}

/** A tracer that uses the SDK's spans. */
export const sdkTracer = (tracer: ApiTracer): Tracer => ({
  startSpan: (name, options, parent) => tracer.startSpan(name, options, contextOf(parent)),
});

export interface LeanTracerOptions extends SpanDefaults {
  readonly sampler: Sampler;
}

const ids = new RandomIdGenerator();

/** Samples like the SDK's tracer, but creates lean spans. */
export class LeanTracer implements Tracer {
  readonly #options: LeanTracerOptions;

  constructor(options: LeanTracerOptions) {
    this.#options = options;
  }

  startSpan(name: string, options: SpanOptions, parent: SpanContext | undefined): Span {
    const above = parent !== undefined && trace.isSpanContextValid(parent) ? parent : undefined;
    const traceId = above?.traceId ?? ids.generateTraceId();
    const context: SpanContext = {
      traceId,
      spanId: ids.generateSpanId(),
      traceFlags: this.#samples(traceId, name, options, above) ? TraceFlags.SAMPLED : TraceFlags.NONE,
      ...(above?.traceState === undefined ? {} : { traceState: above.traceState }),
    };
    if (context.traceFlags === TraceFlags.NONE) return trace.wrapSpanContext(context);
    return new LeanSpan(this.#options, { context, parent: above, name }, options);
  }

  /** All our samplers decide for a child as for its parent (`samplerFrom`), so only the first span here asks. */
  #samples(traceId: string, name: string, options: SpanOptions, above: SpanContext | undefined): boolean {
    if (above !== undefined && above.isRemote !== true) return (above.traceFlags & TraceFlags.SAMPLED) !== 0;
    const { kind = SpanKind.INTERNAL, attributes = {}, links = [] } = options;
    const { decision } = this.#options.sampler.shouldSample(contextOf(above), traceId, name, kind, attributes, links);
    return decision === SamplingDecision.RECORD_AND_SAMPLED;
  }
}
