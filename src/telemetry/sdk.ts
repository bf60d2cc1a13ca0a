import { type Counter, createNoopMeter, type Logger, type Tracer } from "@opentelemetry/api";
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import { type CollectionResult, MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { TracerProvider } from "@opentelemetry/sdk-trace";
import type { BlockQueue } from "./block-queue.ts";
import { Drops } from "./drops.ts";
import { AttributeSets, createInstruments, type Instruments } from "./instruments.ts";
import type { LogQueue } from "./log-queue.ts";
import { scope } from "./names.ts";
import { collector } from "./prometheus.ts";
import { samplerFrom } from "./sampler.ts";
import type { TelemetryParts, TelemetrySettings } from "./settings.ts";
import { SpanQueue } from "./span-queue.ts";
import { Tally } from "./tally.ts";

/** The SDK, set up but not registered globally: whoever measures is given its tracer. */
export interface Sdk {
  readonly tracer: Tracer;
  readonly resource: Resource;
  readonly instruments: Instruments;
  readonly sets: AttributeSets;
  readonly drops: Drops;
  /** Undefined when nobody takes logs. */
  readonly logger: Logger | undefined;
  /** Where spans in columns go; undefined when nobody takes them that way. */
  readonly blocks: BlockQueue | undefined;
  /** Whether each chunk must become a span object. */
  readonly objects: boolean;
  counter(name: string): Counter;
  collect(): Promise<CollectionResult>;
  flush(): Promise<void>;
  close(): Promise<void>;
}

export async function createSdk(settings: TelemetrySettings, parts: TelemetryParts): Promise<Sdk> {
  const environment = parts.environment ?? process.env;
  const resource = defaultResource()
    .merge(
      resourceFromAttributes({
        "service.name": "venturi",
        ...(parts.version === undefined ? {} : { "service.version": parts.version }),
      }),
    )
    .merge(detectResources({ detectors: [envDetector] }));
  const tally = new Tally(resource);
  const push = await metricPush(settings, parts, tally);
  const pull = collector(tally);
  const meters = new MeterProvider({ resource, readers: push === undefined ? [pull] : [pull, push] });
  const instruments = createInstruments(meters.getMeter(scope), tally);
  const sets = new AttributeSets();
  const drops = new Drops(instruments, sets, parts.log);
  const objects = (parts.spanProcessors?.length ?? 0) > 0;
  const url = (signal: string) => `${settings.otlp.endpoint.replace(/\/+$/, "")}/v1/${signal}`;
  const sending = settings.otlp.endpoint !== "";
  const { headers } = settings.otlp;
  const processors = [...(parts.spanProcessors ?? [])];
  let logs: LogQueue | undefined;
  let blocks: BlockQueue | undefined;
  if (sending) {
    const exporters = await import("./exporters.ts");
    processors.push(
      new SpanQueue(new exporters.OTLPTraceExporter({ url: url("traces"), headers: { ...headers } }), drops),
    );
    if (!objects)
      blocks = new exporters.BlockQueue({ url: url("traces"), headers, resource: resource.attributes }, drops);
    logs = exporters.LogQueue.create({ url: url("logs"), headers }, resource, drops);
  }
  const traces = new TracerProvider({
    resource,
    sampler: samplerFrom(environment),
    spanProcessors: processors,
    spanLimits: { eventCountLimit: settings.maxChunkSpans + 128 },
    meterProvider: { getMeter: () => createNoopMeter() },
  });
  const closeLimit = parts.closeLimit ?? 5_000;
  return {
    tracer: traces.getTracer(scope),
    resource,
    instruments,
    sets,
    drops,
    logger: logs?.logger,
    blocks,
    objects,
    counter: (name) => meters.getMeter(scope).createCounter(name),
    collect: () => pull.collect(),
    flush: () =>
      settled(
        [() => traces.forceFlush(), () => blocks?.flush(), () => logs?.flush(), () => push?.forceFlush()],
        closeLimit,
      ),
    close: () =>
      settled(
        [() => traces.shutdown(), () => blocks?.close(), () => logs?.close(), () => meters.shutdown()],
        closeLimit,
      ),
  };
}

async function metricPush(settings: TelemetrySettings, parts: TelemetryParts, tally: Tally) {
  if (settings.otlp.endpoint === "") return undefined;
  const { OTLPMetricExporter } = await import("./exporters.ts");
  return new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({
      url: `${settings.otlp.endpoint.replace(/\/+$/, "")}/v1/metrics`,
      headers: { ...settings.otlp.headers },
    }),
    exportIntervalMillis: parts.metricInterval ?? 10_000,
    exportTimeoutMillis: Math.min(parts.metricInterval ?? 10_000, 10_000),
    metricProducers: [tally],
  });
}

/** Waits for all of them, but no longer than `limit`. A collector that is down makes the SDK reject: that is no failure of ours. */
async function settled(steps: readonly (() => Promise<unknown> | undefined)[], limit: number): Promise<void> {
  const all = Promise.allSettled(steps.map(async (step) => step()));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limit);
  });
  await Promise.race([all, late]);
  clearTimeout(timer);
}
