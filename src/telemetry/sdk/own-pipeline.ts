import type { Logger, Tracer } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import type { LogRecordProcessor } from "@opentelemetry/sdk-logs";
import { MeterProvider, type MetricReader } from "@opentelemetry/sdk-metrics";
import { type Sampler, type SpanLimits, type SpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { schemaUrl, scope } from "../base/names.ts";

/** Components of the providers. Undefined processors are configured by the environment. */
export interface Pieces {
  readonly version: string | undefined;
  readonly resource: Resource;
  readonly sampler: Sampler;
  readonly spanLimits: SpanLimits;
  readonly spanProcessors: SpanProcessor[] | undefined;
  /** The first is the pull reader. */
  readonly metricReaders: readonly [MetricReader, ...MetricReader[]];
  readonly logProcessors: LogRecordProcessor[] | undefined;
}

/** Configured providers of all signals. */
export interface Pipeline {
  readonly tracer: Tracer;
  /** Undefined when logs are not exported. */
  readonly logger: Logger | undefined;
  readonly resource: Resource;
  close(): Promise<unknown>;
}

/** Private providers: used when nothing is exported, or when another pipeline is registered globally. */
export async function ownPipeline(pieces: Pieces): Promise<Pipeline> {
  const { resource, sampler, spanLimits, spanProcessors = [], logProcessors = [] } = pieces;
  const meters = new MeterProvider({ resource, readers: [...pieces.metricReaders] });
  const traces = new TracerProvider({ resource, sampler, spanLimits, spanProcessors });
  const logs = logProcessors.length === 0 ? undefined : await loggers(resource, logProcessors);
  return {
    tracer: traces.getTracer(scope, pieces.version, { schemaUrl }),
    logger: logs?.getLogger(scope, pieces.version, { schemaUrl }),
    resource,
    close: () => Promise.allSettled([traces.shutdown(), meters.shutdown(), logs?.shutdown()]),
  };
}

async function loggers(resource: Resource, processors: LogRecordProcessor[]) {
  const { LoggerProvider } = await import("@opentelemetry/sdk-logs");
  return new LoggerProvider({ resource, processors });
}
