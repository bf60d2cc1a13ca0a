import { performance } from "node:perf_hooks";
import type { HrTime } from "@opentelemetry/api";

/**
 * Maps `performance.now()` to wall-clock time. Shared by all spans of a run, so that they are consistent to the microsecond;
 * the SDK's times have millisecond resolution and drift between spans.
 */
export class Origin {
  readonly #seconds: number;
  readonly #nanos: number;
  /** The origin in nanoseconds since the epoch, as two 32-bit halves. */
  readonly high: number;
  readonly low: number;

  constructor(epochMilliseconds: number) {
    const nanos = BigInt(Math.round(epochMilliseconds * 1_000)) * 1_000n;
    this.#seconds = Number(nanos / 1_000_000_000n);
    this.#nanos = Number(nanos % 1_000_000_000n);
    this.high = Number(nanos >> 32n);
    this.low = Number(nanos & 0xffff_ffffn);
  }

  /** `at` is a `performance.now()` time. */
  time(at: number): HrTime {
    const nanos = this.#nanos + Math.round((at * 1e6) / grain) * grain;
    const seconds = Math.floor(nanos / 1e9);
    return [this.#seconds + seconds, nanos - seconds * 1e9];
  }

  /** Nanoseconds since the epoch, in OTLP JSON's format. */
  text(at: number): string {
    const [seconds, nanos] = this.time(at);
    return `${seconds}${String(nanos).padStart(9, "0")}`;
  }
}

/** Resolution of span times, nanoseconds. */
let grain = 1;

/** Zipkin's API rejects fractions of a microsecond: it silently drops all spans of such a request. */
export function useWholeMicroseconds(): void {
  grain = 1_000;
}

const tolerated = 20;
let current = new Origin(performance.timeOrigin);
let epoch = performance.timeOrigin;

/** The origin for a run starting now: the previous one, unless the wall clock was set or the machine slept. */
export function originNow(): Origin {
  const seen = Date.now() - performance.now();
  if (Math.abs(seen - epoch) > tolerated) {
    epoch = seen;
    current = new Origin(seen);
  }
  return current;
}
