import { type MetricProducer, MetricReader } from "@opentelemetry/sdk-metrics";

/** A pull reader for `/metrics`, without a port of its own. */
export function collector(producer: MetricProducer): MetricReader {
  return new Collector({ metricProducers: [producer] });
}

class Collector extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}
