import type { Log } from "../../core/ports/log.ts";

/** What telemetry reads of the config. */
export interface TelemetrySettings {
  readonly chunks: "spans" | "events" | "metrics";
  /** Per generation; undefined: every chunk gets a span. */
  readonly maxChunkSpans?: number | undefined;
  readonly content: "off" | "truncated" | "full";
  /** User-defined regular expressions; matches never leave the process. */
  readonly redact: readonly string[];
  readonly otlp: { readonly endpoint: string; readonly headers: Readonly<Record<string, string>> };
  /** Number of runs whose spans are kept in memory. */
  readonly ring: number;
  readonly logs: { readonly level: LogLevel };
}

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/** OpenTelemetry's SpanProcessor, declared here so that Venturi's types need no OpenTelemetry package. */
interface SpanProcessor {
  onStart(span: never, parentContext: never): void;
  onEnd(span: never): void;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

export interface TelemetryParts {
  /** Where telemetry reports its own losses. */
  readonly log?: Log;
  readonly version?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /**
   * Additional span processors. With one, every chunk becomes an SDK span so that the processor sees it; without, chunk spans
   * are encoded from plain numbers.
   */
  readonly spanProcessors?: readonly SpanProcessor[];
  /** Interval between metric exports, ms. */
  readonly metricInterval?: number;
  /** Timeout of `flush` and `close`, ms. */
  readonly closeLimit?: number;
}

/** Span events are exported only when their span ends, so without a configured limit they are bounded by this. */
export const mostChunkEvents = 1_000;

/** Maximum chunks recorded per generation. */
export const chunkLimit = ({ chunks, maxChunkSpans }: TelemetrySettings): number =>
  maxChunkSpans ?? (chunks === "events" ? mostChunkEvents : Number.POSITIVE_INFINITY);

export const defaultSettings: TelemetrySettings = {
  chunks: "spans",
  content: "off",
  redact: [],
  otlp: { endpoint: "", headers: {} },
  ring: 200,
  logs: { level: "info" },
};
