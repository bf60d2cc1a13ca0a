import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import type { Resource } from "@opentelemetry/resources";
import { type MetricProducer, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BlockQueue, type OtlpTarget } from "./block-queue.ts";
import type { Drops } from "./drops.ts";
import { LogQueue } from "./log-queue.ts";
import type { TelemetrySettings } from "./settings.ts";
import { SpanQueue } from "./span-queue.ts";

/**
 * How long one request may take, its retries included. No longer than `close` waits, so that a collector that hangs does not
 * keep the process alive.
 */
const patience = 5_000;

/** Everything that sends, in one module, so that it is loaded only when there is somewhere to send to. */
export class Exporters {
  readonly #otlp: TelemetrySettings["otlp"];

  constructor(otlp: TelemetrySettings["otlp"]) {
    this.#otlp = otlp;
  }

  metrics(producer: MetricProducer, interval: number): PeriodicExportingMetricReader {
    return new PeriodicExportingMetricReader({
      exporter: new OTLPMetricExporter(this.#target("metrics")),
      exportIntervalMillis: interval,
      exportTimeoutMillis: Math.min(interval, patience),
      metricProducers: [producer],
    });
  }

  spans(drops: Drops): SpanQueue {
    return new SpanQueue(new OTLPTraceExporter(this.#target("traces")), patience, drops);
  }

  blocks(resource: Resource, drops: Drops): BlockQueue {
    return new BlockQueue(this.#target("traces"), resource.attributes, drops);
  }

  logs(resource: Resource, drops: Drops): LogQueue {
    return LogQueue.create(this.#target("logs"), resource, drops);
  }

  #target(signal: string): OtlpTarget {
    const { endpoint, headers } = this.#otlp;
    return { url: `${endpoint.replace(/\/+$/, "")}/v1/${signal}`, headers: { ...headers }, timeoutMillis: patience };
  }
}
