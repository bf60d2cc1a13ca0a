import type { LimitSettings } from "../config/server.ts";

/** The config's limits and the fixed ones. Bytes and milliseconds. */
export interface ServiceLimits extends LimitSettings {
  readonly headers: number;
  /** JSON nesting in a request. */
  readonly depth: number;
  /** Time for a request's headers and body to arrive. */
  readonly request: number;
  /** Longest wait of a start for a free slot. */
  readonly queueWait: number;
}

export const serviceLimits = (settings: LimitSettings): ServiceLimits => ({
  headers: 16 * 1024,
  depth: 64,
  request: 30_000,
  queueWait: 5_000,
  ...settings,
});
