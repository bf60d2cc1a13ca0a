/** Everything that sends, in one module, so that it is loaded only when there is somewhere to send to. */
export { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
export { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
export { BlockQueue } from "./block-queue.ts";
export { LogQueue } from "./log-queue.ts";
