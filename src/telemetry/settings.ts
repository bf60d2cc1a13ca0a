import type { SpanProcessor } from "@opentelemetry/sdk-trace";
import type { Log } from "../core/log.ts";

/** The part of the config that telemetry reads. */
export interface TelemetrySettings {
  readonly chunks: "spans" | "events" | "metrics";
  /** Chunk spans per generation. */
  readonly maxChunkSpans: number;
  readonly content: "off" | "truncated" | "full";
  /** Regular expressions of the user's own; what matches never leaves the process. */
  readonly redact: readonly string[];
  readonly otlp: { readonly endpoint: string; readonly headers: Readonly<Record<string, string>> };
  /** Runs whose spans are kept in memory. */
  readonly ring: number;
  readonly logs: { readonly level: LogLevel };
}

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

export interface TelemetryParts {
  /** Where telemetry reports on itself: what it had to drop. */
  readonly log?: Log;
  readonly version?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /**
   * Span processors beside our own exporter. With one, every chunk becomes a span object of the SDK's so that the processor
   * sees it too; without, chunk spans are encoded from columns.
   */
  readonly spanProcessors?: readonly SpanProcessor[];
  /** Between two pushes of metrics, ms. */
  readonly metricInterval?: number;
  /** How long `flush` and `close` may take, ms. */
  readonly closeLimit?: number;
}

export const defaultSettings: TelemetrySettings = {
  chunks: "spans",
  maxChunkSpans: 1_000,
  content: "off",
  redact: [],
  otlp: { endpoint: "", headers: {} },
  ring: 200,
  logs: { level: "info" },
};
