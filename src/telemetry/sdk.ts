import { type Counter, createNoopMeter, type Logger, type Tracer } from "@opentelemetry/api";
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import { type CollectionResult, MeterProvider } from "@opentelemetry/sdk-metrics";
import { TracerProvider } from "@opentelemetry/sdk-trace";
import { silentLog } from "../core/log.ts";
import type { BlockQueue } from "./block-queue.ts";
import { collector } from "./collector.ts";
import { Drops } from "./drops.ts";
import type { Exporters } from "./exporters.ts";
import { AttributeSets, createInstruments, type Instruments } from "./instruments.ts";
import { scope } from "./names.ts";
import { samplerFrom } from "./sampler.ts";
import type { TelemetryParts, TelemetrySettings } from "./settings.ts";
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
  const resource = resourceOf(parts.version);
  const exporters = await exportersFor(settings);
  const tally = new Tally(resource);
  const pull = collector(tally);
  const push = exporters?.metrics(tally, parts.metricInterval ?? 10_000);
  const meters = new MeterProvider({ resource, readers: push === undefined ? [pull] : [pull, push] });
  const instruments = createInstruments(meters.getMeter(scope), tally);
  const sets = new AttributeSets();
  const drops = new Drops(instruments, sets, parts.log ?? silentLog);
  const processors = [...(parts.spanProcessors ?? [])];
  const objects = processors.length > 0;
  if (exporters !== undefined) processors.push(exporters.spans(drops));
  const blocks = objects ? undefined : exporters?.blocks(resource, drops);
  const logs = exporters?.logs(resource, drops);
  const traces = new TracerProvider({
    resource,
    sampler: samplerFrom(parts.environment ?? process.env),
    spanProcessors: processors,
    spanLimits: { eventCountLimit: settings.maxChunkSpans + 128 },
    meterProvider: { getMeter: () => createNoopMeter() },
  });
  const all = {
    flush: [() => traces.forceFlush(), () => blocks?.flush(), () => logs?.flush(), () => push?.forceFlush()],
    close: [() => traces.shutdown(), () => blocks?.close(), () => logs?.close(), () => meters.shutdown()],
  };
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
    flush: () => settled(all.flush, closeLimit),
    close: () => settled(all.close, closeLimit),
  };
}

function resourceOf(version: string | undefined): Resource {
  const own = { "service.name": "venturi", ...(version === undefined ? {} : { "service.version": version }) };
  return defaultResource()
    .merge(resourceFromAttributes(own))
    .merge(detectResources({ detectors: [envDetector] }));
}

async function exportersFor({ otlp }: TelemetrySettings): Promise<Exporters | undefined> {
  if (otlp.endpoint === "") return undefined;
  const { Exporters } = await import("./exporters.ts");
  return new Exporters(otlp);
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
