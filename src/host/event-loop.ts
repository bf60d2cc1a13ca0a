import type { Clock } from "../core/clock.ts";
import type { Stalls } from "../core/stalls.ts";

/** How often the loop is looked at, and how late a look must be to count as a stall, ms. */
const interval = 50;
const threshold = 50;
/** A culprit that reported itself this long before the stall was seen is another stall's, ms. */
const memory = 100;

export interface Stall {
  readonly ms: number;
  /** What ran, when it is known. */
  readonly culprit: string | undefined;
}

/** Notices when something blocks the event loop: a timer that comes late was kept from running for that long. */
export class EventLoopMonitor implements Stalls {
  totalMs = 0;
  longestMs = 0;
  readonly #clock: Clock;
  readonly #report: (stall: Stall) => void;
  #expected: number;
  #timer: NodeJS.Timeout | undefined;
  #blamed: { readonly culprit: string; readonly ms: number; readonly at: number } | undefined;

  constructor(clock: Clock, report: (stall: Stall) => void) {
    this.#clock = clock;
    this.#report = report;
    this.#expected = clock.monotonic() + interval;
  }

  /** Does not keep the process alive. */
  start(): this {
    this.#timer ??= setInterval(() => this.look(), interval).unref();
    this.#expected = this.#clock.monotonic() + interval;
    return this;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  blame(culprit: string, ms: number): void {
    if (ms >= threshold && ms >= (this.#blamed?.ms ?? 0)) this.#blamed = { culprit, ms, at: this.#clock.monotonic() };
  }

  /** Called by the timer. */
  look(): void {
    const now = this.#clock.monotonic();
    const late = now - this.#expected;
    this.#expected = now + interval;
    const blamed = this.#blamed;
    this.#blamed = undefined;
    if (late < threshold) return;
    this.totalMs += late;
    this.longestMs = Math.max(this.longestMs, late);
    const known = blamed !== undefined && now - blamed.at < late + memory;
    this.#report({ ms: late, culprit: known ? blamed.culprit : undefined });
  }
}
