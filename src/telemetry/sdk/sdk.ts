import type { Logger } from "@opentelemetry/api";
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import type { CollectionResult } from "@opentelemetry/sdk-metrics";
import type { SpanProcessor } from "@opentelemetry/sdk-trace";
import { silentLog } from "../../core/ports/log.ts";
import { scopeOf } from "../base/names.ts";
import { useWholeMicroseconds } from "../base/origin.ts";
import { mostChunkEvents, type TelemetryParts, type TelemetrySettings } from "../base/settings.ts";
import { collector } from "../metrics/collector.ts";
import { Drops } from "../metrics/drops.ts";
import { AttributeSets, createInstruments, type Instruments } from "../metrics/instruments.ts";
import { Meter } from "../metrics/meter.ts";
import { observeProcess } from "../metrics/process-metrics.ts";
import { ServiceMeter } from "../metrics/service-meter.ts";
import type { SpanQueue } from "../otlp/span-queue.ts";
import type { Exporters } from "./exporters.ts";
import { checkGrpc } from "./grpc.ts";
import { ownPipeline, type Pieces, type Pipeline } from "./own-pipeline.ts";
import { type Environment, type Routes, routesOf, sendsAnything } from "./routes.ts";
import { samplerFrom } from "./sampler.ts";
import { LeanTracer, sdkTracer, type Tracer } from "./tracer.ts";

/** The configured SDK. */
export interface Sdk {
  readonly tracer: Tracer;
  readonly resource: Resource;
  readonly version: string | undefined;
  readonly instruments: Instruments;
  readonly sets: AttributeSets;
  readonly drops: Drops;
  /** Undefined when logs are not exported. */
  readonly logger: Logger | undefined;
  /** Export queue of column-based spans; undefined when they are not exported that way. */
  readonly blocks: SpanQueue | undefined;
  /** Whether each chunk must become a span object. */
  readonly objects: boolean;
  readonly service: ServiceMeter;
  collect(): Promise<CollectionResult>;
  flush(): Promise<void>;
  close(): Promise<void>;
}

export async function createSdk(settings: TelemetrySettings, parts: TelemetryParts): Promise<Sdk> {
  const environment = parts.environment ?? process.env;
  const routes = routesOf(settings.otlp.endpoint, environment);
  checkGrpc(routes, environment);
  const exporters = sendsAnything(routes) ? await exportersFor(settings, routes, environment) : undefined;
  const meter = new Meter(parts.version);
  const sets = new AttributeSets();
  const stopProcess = observeProcess(meter, sets);
  const drops = new Drops(meter, sets, parts.log ?? silentLog);
  const pull = collector(meter);
  const push = exporters?.metrics(meter, parts.metricInterval ?? 10_000);
  const spans = exporters?.spans(drops, parts.version);
  const logs = exporters?.logs(drops);
  const given = (parts.spanProcessors ?? []) as readonly SpanProcessor[]; // The same interface, see `TelemetryParts`.
  if (environment.OTEL_TRACES_EXPORTER?.includes("zipkin")) useWholeMicroseconds();
  const fromEnvironment = routes.traces === "environment" && given.length === 0;
  const sampler = samplerFrom(environment);
  const eventLimit = (settings.maxChunkSpans ?? mostChunkEvents) + 128;
  const pipeline = await pipelineOf(routes, {
    version: parts.version,
    resource: resourceOf(parts.version),
    sampler,
    spanLimits: { eventCountLimit: eventLimit },
    spanProcessors: fromEnvironment ? undefined : present([...given, spans]),
    metricReaders: [pull, ...present([push])],
    logProcessors: routes.logs === "environment" ? undefined : present([logs]),
  });
  const objects = fromEnvironment || given.length > 0;
  const { resource } = pipeline;
  spans?.open(resource);
  const tracer =
    objects || limitsSpans(environment)
      ? sdkTracer(pipeline.tracer)
      : new LeanTracer({
          sampler,
          resource,
          scope: scopeOf(parts.version),
          eventLimit,
          ended: (span) => spans?.onEnd(span),
        });
  const closeLimit = parts.closeLimit ?? 5_000;
  const flush = [...given, spans, logs, push];
  return {
    tracer,
    resource,
    version: parts.version,
    instruments: createInstruments(meter),
    sets,
    drops,
    logger: pipeline.logger,
    blocks: objects ? undefined : spans,
    objects,
    service: new ServiceMeter(meter, sets),
    collect: () => pull.collect(),
    flush: () =>
      inTime(
        flush.map((one) => async () => one?.forceFlush()),
        closeLimit,
      ),
    async close() {
      await inTime([() => pipeline.close()], closeLimit);
      stopProcess(); // After the last export, which collects once more.
    },
  };
}

/** Exporting uses the Node SDK, which is large, so it is loaded only if needed. */
async function pipelineOf(routes: Routes, pieces: Pieces): Promise<Pipeline> {
  if (!sendsAnything(routes)) return ownPipeline(pieces);
  const { registeredPipeline } = await import("./registered-pipeline.ts");
  return registeredPipeline(pieces);
}

/** Whether span limits are configured: lean spans only support the SDK's defaults. */
const limitsSpans = (environment: Environment): boolean =>
  Object.keys(environment).some((name) => /^OTEL_.*_LIMIT$/.test(name));

function resourceOf(version: string | undefined): Resource {
  const own = { "service.name": "venturi", ...(version === undefined ? {} : { "service.version": version }) };
  return defaultResource()
    .merge(resourceFromAttributes(own))
    .merge(detectResources({ detectors: [envDetector] }));
}

async function exportersFor({ otlp }: TelemetrySettings, routes: Routes, environment: Environment): Promise<Exporters> {
  const { Exporters } = await import("./exporters.ts");
  return new Exporters(otlp, routes, environment);
}

const present = <T>(list: readonly (T | undefined)[]): T[] => list.filter((one) => one !== undefined);

/** Waits for all steps, up to `limit`. The SDK rejects when the collector is down; that is not our failure. */
async function inTime(steps: readonly (() => Promise<unknown>)[], limit: number): Promise<void> {
  const all = Promise.allSettled(steps.map(async (step) => step()));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limit);
  });
  await Promise.race([all, late]);
  clearTimeout(timer);
}
