import type { Clock } from "../core/clock.ts";
import type { Stalls } from "../core/stalls.ts";

/** Sampling interval, and how late a sample must be to count as a stall, ms. */
const interval = 50;
const threshold = 50;
/** A culprit reported longer ago than this belongs to another stall, ms. */
const memory = 100;

const recently = 10_000;
const mostRecent = 200;

export interface Stall {
  readonly ms: number;
  /** The code responsible, if known. */
  readonly culprit: string | undefined;
  /** True if this process was busy; false if the machine gave it no CPU. */
  readonly busy: boolean;
}

/** Detects a blocked event loop: a late timer was blocked for as long as it is late. */
export class EventLoopMonitor implements Stalls {
  totalMs = 0;
  longestMs = 0;
  readonly #clock: Clock;
  readonly #report: (stall: Stall) => void;
  #recent: { readonly at: number; readonly ms: number }[] = [];
  #expected: number;
  #timer: NodeJS.Timeout | undefined;
  #cpu = process.cpuUsage();
  #blamed: { readonly culprit: string; readonly ms: number; readonly at: number } | undefined;

  constructor(clock: Clock, report: (stall: Stall) => void) {
    this.#clock = clock;
    this.#report = report;
    this.#expected = clock.monotonic() + interval;
  }

  /** The timer does not keep the process alive. */
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

  /** Blocked time in the last ten seconds, ms: total and longest. */
  recent(): { readonly blockedMs: number; readonly longestMs: number } {
    const since = this.#clock.monotonic() - recently;
    this.#recent = this.#recent.filter(({ at }) => at >= since);
    const times = this.#recent.map(({ ms }) => ms);
    return {
      blockedMs: Math.round(times.reduce((sum, ms) => sum + ms, 0)),
      longestMs: Math.round(Math.max(0, ...times)),
    };
  }

  /** Called by the timer. */
  look(): void {
    const now = this.#clock.monotonic();
    const late = now - this.#expected;
    this.#expected = now + interval;
    const blamed = this.#blamed;
    this.#blamed = undefined;
    const { user, system } = process.cpuUsage(this.#cpu);
    this.#cpu = process.cpuUsage();
    if (late < threshold) return;
    this.#recent.push({ at: now, ms: late });
    if (this.#recent.length > mostRecent) this.#recent.shift();
    this.totalMs += late;
    this.longestMs = Math.max(this.longestMs, late);
    const known = blamed !== undefined && now - blamed.at < late + memory;
    const busy = (user + system) / 1_000 > late / 2;
    this.#report({ ms: late, culprit: known ? blamed.culprit : undefined, busy });
  }
}
