import type { MetricsFormat } from "../../core/ports/telemetry.ts";
import type { ProcessState } from "./protocol.ts";

/** Metrics and traces for `/metrics` and the API. */
export interface SharedTelemetry {
  metrics(format?: MetricsFormat): Promise<string>;
  trace(run: string): unknown;
}

/** All processes of the service, as seen by one of them. */
export interface Siblings {
  /** The service's address, and the descriptor of the shared socket. */
  readonly url: string;
  readonly socket: number;
  /** Whether this process takes new connections. */
  readonly taking: boolean;
  /** Reports this process's connections and load (0 to 1). Returns how many connections it should keep, if that is fewer. */
  share(open: number, load: number): Promise<number | undefined>;
  states(): Promise<readonly ProcessState[]>;
  /** The same for all processes together. */
  telemetry(own: SharedTelemetry): SharedTelemetry;
  /** Reports this process's final metrics, in OpenMetrics format, so that the sum does not shrink when it exits. */
  ended(metrics: string): Promise<void>;
  /** Requests under the key in its current window, counted over all processes; `ttl`: remaining time, ms. */
  count(key: string, window: number): Promise<{ readonly current: number; readonly ttl: number }>;
}
