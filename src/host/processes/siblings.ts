import type { MetricsFormat } from "../../core/ports/telemetry.ts";
import type { ProcessState } from "./protocol.ts";

/** What `/metrics` and traces show. */
export interface SharedTelemetry {
  metrics(format?: MetricsFormat): Promise<string>;
  trace(run: string): unknown;
}

/** The processes of the service together, as one of them sees them. */
export interface Siblings {
  /** The service's address, and the descriptor of its socket, from which all accept. */
  readonly url: string;
  readonly socket: number;
  /** Connections of a process, on average. This one has `open`. */
  meanConnections(open: number): Promise<number>;
  states(): Promise<readonly ProcessState[]>;
  /** The same, of all processes. */
  telemetry(own: SharedTelemetry): SharedTelemetry;
  /** Hands in this process's metrics, as OpenMetrics, before it exits, so that the sum does not shrink. */
  ended(metrics: string): Promise<void>;
  /** Requests under the key in its current window, counted by all processes; `ttl` is what is left of it, ms. */
  count(key: string, window: number): Promise<{ readonly current: number; readonly ttl: number }>;
}
