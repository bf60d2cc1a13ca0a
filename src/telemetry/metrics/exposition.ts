import type { Attributes } from "@opentelemetry/api";
import { type CollectionResult, DataPointType, type Histogram, type MetricData } from "@opentelemetry/sdk-metrics";
import type { MetricsFormat as Format } from "../../core/ports/telemetry.ts";
import type { Exemplar } from "./distribution.ts";

interface Written {
  readonly type: "counter" | "gauge" | "histogram";
  readonly unit: string;
  readonly help: string;
  readonly samples: string[];
}

/**
 * Metrics as text: Prometheus format 0.0.4, or OpenMetrics 1.0, which has exemplars. Names end with their unit, as the collector's exporter
 * writes them, so that dashboards fit both. The SDK's serializer writes no exemplars.
 */
export function exposition({ resourceMetrics }: CollectionResult, format: Format): string {
  const families = new Map<string, Written>();
  for (const { metrics } of resourceMetrics.scopeMetrics) {
    for (const metric of metrics) write(families, metric, format);
  }
  const lines: string[] = [];
  for (const [name, family] of families) {
    // OpenMetrics uses `_total` only for a counter's sample, not for its name.
    const title = family.type === "counter" && format === "prometheus" ? `${name}_total` : name;
    lines.push(`# HELP ${title} ${escaped(family.help, format)}`, `# TYPE ${title} ${family.type}`);
    if (format === "openmetrics" && family.unit !== "") lines.push(`# UNIT ${name} ${family.unit}`);
    for (const sample of family.samples) lines.push(sample);
  }
  if (format === "openmetrics") lines.push("# EOF");
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

function write(families: Map<string, Written>, metric: MetricData, format: Format): void {
  const { description, unit } = metric.descriptor;
  const type = typeOf(metric);
  const suffix = suffixOf(unit, type);
  const name = nameOf(metric.descriptor.name, suffix, type);
  const family = families.get(name) ?? { type, unit: suffix, help: description, samples: [] };
  families.set(name, family);
  if (metric.dataPointType === DataPointType.EXPONENTIAL_HISTOGRAM) {
    for (const { attributes, value } of metric.dataPoints) {
      const whole = { sum: value.sum ?? 0, count: value.count, buckets: { boundaries: [], counts: [value.count] } };
      histogram(family.samples, { name, attributes, value: whole, exemplars: undefined });
    }
    return;
  }
  if (metric.dataPointType === DataPointType.HISTOGRAM) {
    for (const { attributes, value, ...rest } of metric.dataPoints) {
      const exemplars = format === "openmetrics" ? exemplarsIn(rest) : undefined;
      histogram(family.samples, { name, attributes, value, exemplars });
    }
    return;
  }
  const sample = type === "counter" ? `${name}_total` : name;
  for (const { attributes, value } of metric.dataPoints) {
    family.samples.push(`${sample}${labelsOf(attributes)} ${number(value)}`);
  }
}

interface Series {
  readonly name: string;
  readonly attributes: Attributes;
  readonly value: Pick<Histogram, "sum" | "count" | "buckets">;
  readonly exemplars: readonly (Exemplar | undefined)[] | undefined;
}

function histogram(samples: string[], { name, attributes, value, exemplars }: Series): void {
  const { boundaries, counts } = value.buckets;
  let below = 0;
  for (let bucket = 0; bucket <= boundaries.length; bucket++) {
    below += counts[bucket] ?? 0;
    const le = number(boundaries[bucket] ?? Number.POSITIVE_INFINITY);
    samples.push(`${name}_bucket${labelsOf(attributes, { le })} ${below}${exemplarOf(exemplars?.[bucket])}`);
  }
  samples.push(`${name}_sum${labelsOf(attributes)} ${number(value.sum ?? 0)}`);
  samples.push(`${name}_count${labelsOf(attributes)} ${value.count}`);
}

/** Exemplars that our meter adds to its points; points of other meters have none. */
const exemplarsIn = (point: object): readonly (Exemplar | undefined)[] | undefined =>
  "exemplars" in point ? (point.exemplars as readonly (Exemplar | undefined)[] | undefined) : undefined; // Our own points.

const exemplarOf = (exemplar: Exemplar | undefined): string =>
  exemplar === undefined
    ? ""
    : ` # {trace_id="${exemplar.traceId}",span_id="${exemplar.spanId}"} ${number(exemplar.value)} ${exemplar.at / 1_000}`;

function typeOf(metric: MetricData): Written["type"] {
  switch (metric.dataPointType) {
    case DataPointType.SUM:
      return metric.isMonotonic ? "counter" : "gauge";
    case DataPointType.GAUGE:
      return "gauge";
    default:
      return "histogram";
  }
}

const units: Readonly<Record<string, string>> = { s: "seconds", ms: "milliseconds", By: "bytes" };

function suffixOf(unit: string, type: Written["type"]): string {
  if (unit === "1") return type === "gauge" ? "ratio" : "";
  return units[unit] ?? "";
}

function nameOf(name: string, suffix: string, type: Written["type"]): string {
  const plain = name.replace(/[^a-zA-Z0-9_:]/g, "_").replace(/^(?=\d)/, "_");
  // `_count` is reserved for histograms, so the conventions' `process.thread.count` becomes `process_thread`.
  const base = plain.replace(type === "counter" ? /_total$/ : type === "gauge" ? /_count$/ : /$^/, "");
  return suffix === "" || base.endsWith(`_${suffix}`) ? base : `${base}_${suffix}`;
}

function labelsOf(attributes: Attributes, more: Readonly<Record<string, string>> = {}): string {
  const pairs = Object.entries({ ...attributes, ...more }).map(
    ([key, value]) => `${key.replace(/[^a-zA-Z0-9_]/g, "_")}="${escaped(String(value), "openmetrics")}"`,
  );
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(text: string, format: Format): string {
  const plain = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  return format === "openmetrics" ? plain.replaceAll('"', '\\"') : plain;
}

function number(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value);
}
