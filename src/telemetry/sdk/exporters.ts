import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import type { LogRecordProcessor } from "@opentelemetry/sdk-logs";
import {
  ConsoleMetricExporter,
  type MetricProducer,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from "@opentelemetry/sdk-metrics";
import type { TelemetrySettings } from "../base/settings.ts";
import type { Drops } from "../metrics/drops.ts";
import { type OtlpTarget, SpanQueue } from "../otlp/span-queue.ts";
import { requireGrpc } from "./grpc.ts";
import { logQueue } from "./log-queue.ts";
import { type Environment, protocolOf, type Routes } from "./routes.ts";

/** Timeout of one export including retries. Not longer than `close` waits, so that a hanging collector does not keep the process alive. */
const patience = 5_000;

type GrpcExporter = typeof import("@opentelemetry/exporter-metrics-otlp-grpc");

/** All exporters in one module, loaded only if there is an endpoint. */
export class Exporters {
  readonly #otlp: TelemetrySettings["otlp"];
  readonly #routes: Routes;
  readonly #environment: Environment;

  constructor(otlp: TelemetrySettings["otlp"], routes: Routes, environment: Environment) {
    this.#otlp = otlp;
    this.#routes = routes;
    this.#environment = environment;
  }

  /** Unlike spans and logs, metrics always use our reader, because only it knows our meter. */
  metrics(producer: MetricProducer, interval: number): PeriodicExportingMetricReader | undefined {
    const exporter = this.#metricExporter();
    if (exporter === undefined) return undefined;
    return new PeriodicExportingMetricReader({
      exporter,
      exportIntervalMillis: interval,
      exportTimeoutMillis: Math.min(interval, patience),
      metricProducers: [producer],
    });
  }

  spans(drops: Drops, version: string | undefined): SpanQueue | undefined {
    return this.#routes.traces === "endpoint" ? new SpanQueue(this.#target("traces"), version, drops) : undefined;
  }

  logs(drops: Drops): LogRecordProcessor | undefined {
    return this.#routes.logs === "endpoint" ? logQueue(this.#target("logs"), drops) : undefined;
  }

  #metricExporter(): PushMetricExporter | undefined {
    if (this.#routes.metrics === "nowhere") return undefined;
    if (this.#routes.metrics === "endpoint") return new OTLPMetricExporter(this.#target("metrics"));
    const names = (this.#environment.OTEL_METRICS_EXPORTER ?? "otlp").split(",").map((name) => name.trim());
    if (names.includes("console")) return new ConsoleMetricExporter();
    // `prometheus` is served at /metrics anyway.
    if (!names.includes("otlp") && !names.includes("")) return undefined;
    if (protocolOf("METRICS", this.#environment) !== "grpc") return new OTLPMetricExporter();
    const { OTLPMetricExporter: Grpc } = requireGrpc("@opentelemetry/exporter-metrics-otlp-grpc") as GrpcExporter;
    return new Grpc();
  }

  #target(signal: string): OtlpTarget {
    const { endpoint, headers } = this.#otlp;
    return { url: `${endpoint.replace(/\/+$/, "")}/v1/${signal}`, headers: { ...headers }, timeoutMillis: patience };
  }
}
