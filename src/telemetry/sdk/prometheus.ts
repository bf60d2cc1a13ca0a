import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import type { CollectionResult, MetricData } from "@opentelemetry/sdk-metrics";

const noPrefix = "";
const noTimestamp = false;
const targetInfo = false;
const noScope = true;
const serializer = new PrometheusSerializer(noPrefix, noTimestamp, undefined, targetInfo, noScope);

/** Prometheus naming: a name ends with its unit. The collector's exporter does the same, so dashboards fit both. */
export function prometheusText({ resourceMetrics }: CollectionResult): string {
  const scopeMetrics = resourceMetrics.scopeMetrics.map(({ scope, metrics }) => ({
    scope,
    metrics: metrics.map(withUnit),
  }));
  return serializer.serialize({ ...resourceMetrics, scopeMetrics });
}

function withUnit(metric: MetricData): MetricData {
  const { name, unit } = metric.descriptor;
  return { ...metric, descriptor: { ...metric.descriptor, name: unit === "s" ? `${name}.seconds` : name, unit: "" } };
}
