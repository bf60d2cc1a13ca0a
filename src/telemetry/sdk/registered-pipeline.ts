import {
  context,
  createContextKey,
  logs,
  metrics,
  ProxyTracerProvider,
  propagation,
  ROOT_CONTEXT,
  trace,
} from "@opentelemetry/api";
import { envDetector, hostDetector, osDetector, serviceInstanceIdDetector } from "@opentelemetry/resources";
import { NodeSDK } from "@opentelemetry/sdk-node";
import { NoopSpanProcessor } from "@opentelemetry/sdk-trace";
import { schemaUrl, scope } from "../base/names.ts";
import { ownPipeline, type Pieces, type Pipeline } from "./own-pipeline.ts";

/**
 * Providers set up by the Node SDK and registered with the API, so that spans, metrics and logs of users' own tools and instrumentations
 * take the same route and join the run's trace. A process can register one pipeline; if one exists already, ours or the embedding
 * program's, this one stays private.
 */
export async function registeredPipeline(pieces: Pieces): Promise<Pipeline> {
  if (isTaken()) return ownPipeline(pieces);
  const { resource, sampler, spanLimits, spanProcessors, logProcessors } = pieces;
  const sdk = new NodeSDK({
    resource,
    sampler,
    spanLimits,
    metricReaders: [...pieces.metricReaders],
    ...(spanProcessors === undefined ? {} : { spanProcessors: atLeastOne(spanProcessors) }),
    ...(logProcessors === undefined ? {} : { logRecordProcessors: logProcessors }),
    ...(process.env.OTEL_NODE_RESOURCE_DETECTORS === undefined ? { resourceDetectors } : {}),
  });
  sdk.start();
  const { resourceMetrics } = await pieces.metricReaders[0].collect();
  await resourceMetrics.resource.waitForAsyncAttributes?.();
  return {
    tracer: trace.getTracerProvider().getTracer(scope, pieces.version, { schemaUrl }),
    logger: logProcessors?.length === 0 ? undefined : logs.getLogger(scope, pieces.version, { schemaUrl }),
    resource: resourceMetrics.resource,
    close() {
      // First, so that the next pipeline can register however long the last export takes.
      for (const api of [trace, metrics, logs, context, propagation]) api.disable();
      return sdk.shutdown();
    },
  };
}

/** The SDK's default detectors except the process: its command line may contain `--set` values. */
const resourceDetectors = [serviceInstanceIdDetector, hostDetector, osDetector, envDetector];

function isTaken(): boolean {
  const probe = ROOT_CONTEXT.setValue(createContextKey(scope), true);
  const managed = context.with(probe, () => context.active() === probe);
  const provider = trace.getTracerProvider();
  return managed || !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer(scope) !== undefined;
}

/** Without processors the SDK would create no tracer, but spans are also kept in memory. */
const atLeastOne = (processors: NonNullable<Pieces["spanProcessors"]>) =>
  processors.length > 0 ? processors : [new NoopSpanProcessor()];
