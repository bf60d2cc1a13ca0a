import { serviceMetrics } from "../../core/ports/service-metrics.ts";
import type { MetricsFormat } from "../../core/ports/telemetry.ts";

interface Sample {
  value: number;
  exemplar: string | undefined;
}

interface Family {
  type: string;
  unit: string | undefined;
  help: string | undefined;
  /** By `name{labels}`. */
  readonly samples: Map<string, Sample>;
}
type Families = Map<string, Family>;

/**
 * Sums OpenMetrics texts of processes with the same metrics, series by series. Values that cannot be summed, such as a delay, use the
 * maximum.
 */
export function sumMetrics(texts: readonly string[], format: MetricsFormat = "openmetrics"): string {
  const sum: Families = new Map();
  for (const text of texts) for (const [name, family] of parse(text)) add(sum, name, family);
  return write(sum, format);
}

/**
 * Counters and histograms only. They must stay in the sum after a process ended: Prometheus takes a decrease for a restart and would count
 * everything twice.
 */
export function countersOf(text: string): string {
  const growing = [...parse(text)].filter(([, { type }]) => type === "counter" || type === "histogram");
  return write(new Map(growing), "openmetrics");
}

const comment = /^# (HELP|TYPE|UNIT) (\S+) ?(.*)$/;
const sample = /^([\w:]+(?:\{(?:[^"}]|"(?:\\.|[^"\\])*")*\})?) (\S+)(?: # (.*))?$/;

function parse(text: string): Families {
  const families: Families = new Map();
  let current: Family | undefined;
  for (const line of text.split("\n")) {
    const [, kind, name = "", rest = ""] = comment.exec(line) ?? [];
    if (kind !== undefined) {
      current = families.get(name) ?? { type: "unknown", unit: undefined, help: undefined, samples: new Map() };
      families.set(name, current);
      if (kind === "TYPE") current.type = rest;
      else if (kind === "UNIT") current.unit = rest;
      else current.help = rest;
      continue;
    }
    const [, series, value, exemplar] = sample.exec(line) ?? [];
    if (series !== undefined) current?.samples.set(series, { value: numberOf(value), exemplar });
  }
  return families;
}

/** Constant facts, and gauges that mean nothing as a sum. */
const isSameEverywhere = /_info$|_ratio$|eventloop_(?:delay|utilization)/;
const shared = new Set(
  Object.entries(serviceMetrics)
    .filter(([, metric]) => "shared" in metric)
    .map(([name]) => name.replaceAll(".", "_")),
);
const doesNotAdd = (name: string): boolean => shared.has(name) || isSameEverywhere.test(name);

function add(sum: Families, name: string, family: Family): void {
  const known = sum.get(name);
  if (known === undefined) {
    sum.set(name, family);
    return;
  }
  const isLevel = known.type === "gauge" && doesNotAdd(name);
  for (const [series, { value, exemplar }] of family.samples) {
    const there = known.samples.get(series);
    if (there === undefined) known.samples.set(series, { value, exemplar });
    else {
      there.value = isLevel ? Math.max(there.value, value) : there.value + value;
      there.exemplar = exemplar ?? there.exemplar;
    }
  }
}

function write(families: Families, format: MetricsFormat): string {
  const isOpen = format === "openmetrics";
  const lines: string[] = [];
  for (const [name, { type, unit, help, samples }] of families) {
    const title = type === "counter" && !isOpen ? `${name}_total` : name;
    if (help !== undefined) lines.push(`# HELP ${title} ${isOpen ? help : help.replaceAll('\\"', '"')}`);
    lines.push(`# TYPE ${title} ${type}`);
    if (isOpen && unit !== undefined) lines.push(`# UNIT ${name} ${unit}`);
    for (const [series, { value, exemplar }] of samples) {
      lines.push(`${series} ${textOf(value)}${isOpen && exemplar !== undefined ? ` # ${exemplar}` : ""}`);
    }
  }
  if (isOpen) lines.push("# EOF");
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

const numberOf = (text: string | undefined): number => (text === "+Inf" ? Number.POSITIVE_INFINITY : Number(text));
const textOf = (value: number): string => (value === Number.POSITIVE_INFINITY ? "+Inf" : String(value));
