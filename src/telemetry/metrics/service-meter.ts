import type { Attributes } from "@opentelemetry/api";
import { type Observed, type ServiceMetric, serviceMetrics } from "../../core/ports/service-metrics.ts";
import { buckets } from "../base/names.ts";
import type { Distribution } from "./distribution.ts";
import type { AttributeSets } from "./instruments.ts";
import type { Count, Meter } from "./meter.ts";

type Labels = Readonly<Record<string, string>>;

/** How long to wait for a gauge's reader, ms: metrics matter most while the journal hangs. */
const patience = 500;

/** Metrics of the service, each created on first use. */
export class ServiceMeter {
  readonly #meter: Meter;
  readonly #sets: AttributeSets;
  readonly #counts = new Map<string, (attributes: Attributes) => Count>();
  readonly #histograms = new Map<string, (attributes: Attributes) => Distribution>();

  constructor(meter: Meter, sets: AttributeSets) {
    this.#meter = meter;
    this.#sets = sets;
  }

  add(name: ServiceMetric<"counter" | "level">, by: number, labels: Labels): void {
    this.#series(name)(this.#sets.of(labels)).value += by;
  }

  took(name: ServiceMetric<"histogram">, ms: number, labels: Labels): void {
    let histogram = this.#histograms.get(name);
    if (histogram === undefined) {
      const boundaries = name === "http.server.request.duration" ? buckets.request : buckets.run;
      histogram = this.#meter.histogram({ name, ...serviceMetrics[name] }, boundaries);
      this.#histograms.set(name, histogram);
    }
    histogram(this.#sets.of(labels)).record(ms / 1_000);
  }

  observe(name: ServiceMetric<"gauge">, read: () => Observed | Promise<Observed>): void {
    const series = this.#series(name);
    const known = new Set<Count>();
    this.#meter.observe(async () => {
      const seen = await inTime(read);
      // An unknown value is left out rather than repeated.
      for (const one of known) one.value = seen === undefined ? Number.NaN : 0;
      for (const { value, attributes = {} } of seen ?? []) {
        const one = series(this.#sets.of(attributes));
        one.value = value;
        known.add(one);
      }
    });
  }

  #series(name: ServiceMetric<"counter" | "level" | "gauge">): (attributes: Attributes) => Count {
    let series = this.#counts.get(name);
    if (series === undefined) {
      const { kind, unit, description } = serviceMetrics[name];
      series = this.#meter[kind]({ name, unit, description });
      this.#counts.set(name, series);
    }
    return series;
  }
}

async function inTime(read: () => Observed | Promise<Observed>): Promise<Observed | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), patience);
  });
  try {
    return await Promise.race([read(), late]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
