/** One key that may call the service. Only its SHA-256 is known here. */
export interface AccessKey {
  readonly id: string;
  /** Hexadecimal. */
  readonly sha256: string;
  /** Agents it may use; undefined = all. */
  readonly agents?: readonly string[] | undefined;
  readonly requestsPerMinute?: number | undefined;
  /** Most runs of this key under way at a time. */
  readonly activeRuns?: number | undefined;
}

export interface ServerSettings {
  readonly host: string;
  readonly port: number;
  /** Names accepted in the Host header, without port; undefined = the loopback names on loopback, any name elsewhere. */
  readonly hosts?: readonly string[] | undefined;
  /** Origins that browsers may call from; none unless named. */
  readonly origins: readonly string[];
  /** Empty = everyone may do everything, which the config allows on loopback alone. */
  readonly keys: readonly AccessKey[];
}

/** Bytes and milliseconds. */
export interface ServiceLimits {
  readonly body: number;
  readonly headers: number;
  /** Nesting of JSON in a request. */
  readonly depth: number;
  /** Time for a request's headers and body to arrive. */
  readonly request: number;
  readonly activeRuns: number;
  /** Starts that may wait for a free place, and how long. */
  readonly queuedRuns: number;
  readonly queueWait: number;
  readonly slowReader: number;
  readonly keepAlive: number;
  readonly stalled: number;
  readonly drain: number;
}

export const defaultServiceLimits: ServiceLimits = {
  body: 4 * 1024 * 1024,
  headers: 16 * 1024,
  depth: 64,
  request: 30_000,
  activeRuns: 2000,
  queuedRuns: 200,
  queueWait: 5_000,
  slowReader: 1024 * 1024,
  keepAlive: 15_000,
  stalled: 60_000,
  drain: 25_000,
};
