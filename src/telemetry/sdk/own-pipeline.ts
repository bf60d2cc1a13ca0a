import type { Logger, Meter, Tracer } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import type { LogRecordProcessor } from "@opentelemetry/sdk-logs";
import { MeterProvider, type MetricReader } from "@opentelemetry/sdk-metrics";
import { type Sampler, type SpanLimits, type SpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { schemaUrl, scope } from "../names.ts";

/** What the providers are made of. Processors that are undefined are those that the environment names. */
export interface Pieces {
  readonly version: string | undefined;
  readonly resource: Resource;
  readonly sampler: Sampler;
  readonly spanLimits: SpanLimits;
  readonly spanProcessors: SpanProcessor[] | undefined;
  /** The first can be asked at any time. */
  readonly metricReaders: readonly [MetricReader, ...MetricReader[]];
  readonly logProcessors: LogRecordProcessor[] | undefined;
}

/** Providers of all signals, set up. */
export interface Pipeline {
  readonly tracer: Tracer;
  readonly meter: Meter;
  /** Undefined when nobody takes logs. */
  readonly logger: Logger | undefined;
  readonly resource: Resource;
  close(): Promise<unknown>;
}

/** Providers of our own that nobody else sees: where nothing is sent, or where the API's global place is taken. */
export async function ownPipeline(pieces: Pieces): Promise<Pipeline> {
  const { resource, sampler, spanLimits, spanProcessors = [], logProcessors = [] } = pieces;
  const meters = new MeterProvider({ resource, readers: [...pieces.metricReaders] });
  const traces = new TracerProvider({ resource, sampler, spanLimits, spanProcessors });
  const logs = logProcessors.length === 0 ? undefined : await loggers(resource, logProcessors);
  return {
    tracer: traces.getTracer(scope, pieces.version, { schemaUrl }),
    meter: meters.getMeter(scope, pieces.version, { schemaUrl }),
    logger: logs?.getLogger(scope),
    resource,
    close: () => Promise.allSettled([traces.shutdown(), meters.shutdown(), logs?.shutdown()]),
  };
}

async function loggers(resource: Resource, processors: LogRecordProcessor[]) {
  const { LoggerProvider } = await import("@opentelemetry/sdk-logs");
  return new LoggerProvider({ resource, processors });
}
