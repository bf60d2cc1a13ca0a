import { type Attributes, type HrTime, ValueType } from "@opentelemetry/api";
import { hrTime } from "@opentelemetry/core";
import { emptyResource } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  type CollectionResult,
  DataPointType,
  type MetricData,
  type MetricProducer,
} from "@opentelemetry/sdk-metrics";
import { schemaUrl, scope } from "../base/names.ts";
import { Distribution } from "./distribution.ts";

/** One series of a counter, up-down counter or gauge. */
export interface Count {
  value: number;
}

interface Description {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
}

interface Family<Series> extends Description {
  readonly series: Map<Attributes, Series>;
}

type Kind = "counter" | "level" | "gauge";

/** The SDK's own limit of series per metric: clients that invent tenants or models must not fill the memory. */
const mostSeries = 2_000;
const overflow: Attributes = Object.freeze({ "otel.metric.overflow": true });

/**
 * Our meter. Recording through the SDK hashes the attributes each time (≈ 2 µs); holding on to a series makes it an addition. Readers see
 * ordinary instruments.
 */
export class Meter implements MetricProducer {
  readonly #version: string | undefined;
  readonly #started: HrTime = hrTime();
  readonly #counters: (Family<Count> & { readonly kind: Kind })[] = [];
  readonly #histograms: (Family<Distribution> & { readonly boundaries: readonly number[] })[] = [];
  readonly #observers: (() => void | Promise<void>)[] = [];

  constructor(version?: string) {
    this.#version = version;
  }

  /** Series are keyed by the attribute object: pass the same frozen object for the same attributes. */
  counter(description: Description): (attributes: Attributes) => Count {
    return this.#counted({ ...description, kind: "counter" });
  }

  /** An up-down counter. */
  level(description: Description): (attributes: Attributes) => Count {
    return this.#counted({ ...description, kind: "level" });
  }

  gauge(description: Description): (attributes: Attributes) => Count {
    return this.#counted({ ...description, kind: "gauge" });
  }

  histogram(description: Description, boundaries: readonly number[]): (attributes: Attributes) => Distribution {
    const family = { ...description, boundaries, series: new Map<Attributes, Distribution>() };
    this.#histograms.push(family);
    return (attributes) => seriesOf(family, attributes, () => new Distribution(boundaries));
  }

  /** `refresh` is called before each collection, for values that are expensive to keep up to date. */
  observe(refresh: () => void | Promise<void>): void {
    this.#observers.push(refresh);
  }

  async collect(): Promise<CollectionResult> {
    await Promise.all(this.#observers.map((refresh) => refresh()));
    const times = { startTime: this.#started, endTime: hrTime() };
    const metrics: MetricData[] = [];
    for (const family of this.#counters) {
      const known = [...family.series].filter(([, { value }]) => !Number.isNaN(value));
      const dataPoints = known.map(([attributes, { value }]) => ({ ...times, attributes, value }));
      if (dataPoints.length > 0) metrics.push({ ...shape(family), ...typeOf(family.kind), dataPoints });
    }
    for (const family of this.#histograms) {
      const dataPoints = [...family.series].map(([attributes, series]) => ({
        ...times,
        attributes,
        value: {
          buckets: { boundaries: [...family.boundaries], counts: [...series.counts] },
          sum: series.sum,
          count: series.count,
        },
        // Not part of the SDK's data model; its exporters ignore them, /metrics shows them.
        exemplars: series.exemplars,
      }));
      if (dataPoints.length > 0) {
        metrics.push({ ...shape(family), dataPointType: DataPointType.HISTOGRAM, dataPoints });
      }
    }
    const ours = { name: scope, schemaUrl, ...(this.#version === undefined ? {} : { version: this.#version }) };
    const scopeMetrics = metrics.length === 0 ? [] : [{ scope: ours, metrics }];
    // A reader gets the resource from its provider.
    return { resourceMetrics: { resource: emptyResource(), scopeMetrics }, errors: [] };
  }

  #counted(description: Description & { kind: Kind }): (attributes: Attributes) => Count {
    const family = { ...description, series: new Map<Attributes, Count>() };
    this.#counters.push(family);
    return (attributes) => seriesOf(family, attributes, () => ({ value: 0 }));
  }
}

function seriesOf<Series>(family: Family<Series>, attributes: Attributes, make: () => Series): Series {
  let series = family.series.get(attributes);
  if (series === undefined) {
    const key = family.series.size < mostSeries ? attributes : overflow;
    series = family.series.get(key) ?? make();
    family.series.set(key, series);
  }
  return series;
}

const typeOf = (kind: Kind) =>
  kind === "gauge"
    ? ({ dataPointType: DataPointType.GAUGE } as const)
    : ({ dataPointType: DataPointType.SUM, isMonotonic: kind === "counter" } as const);

const fractional = new Set(["s", "1"]);

const shape = ({ name, description, unit }: Description) => ({
  descriptor: {
    name,
    description,
    unit,
    valueType: fractional.has(unit) ? ValueType.DOUBLE : ValueType.INT,
    advice: {},
  },
  aggregationTemporality: AggregationTemporality.CUMULATIVE,
});
