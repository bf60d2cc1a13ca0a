import type { Clock } from "../../core/ports/clock.ts";
import type { PastStall, Stalls } from "../../core/ports/stalls.ts";

/** Sampling interval while someone watches, and how late a sample must be to count as a stall, ms. */
const interval = 50;
const threshold = 50;
/** While nobody does: a sample wakes an idle process, which costs more than all else it does then, ms. */
const resting = 1_000;
/** A stall this long makes connections and timeouts fail that would not have, ms. */
const long = 500;
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
  readonly #recent: PastStall[] = [];
  #expected: number;
  #longAt: number | undefined;
  #every = resting;
  #watchers = 0;
  #timer: NodeJS.Timeout | undefined;
  #cpu = process.cpuUsage();
  #blamed: { readonly culprit: string; readonly ms: number; readonly at: number } | undefined;

  constructor(clock: Clock, report: (stall: Stall) => void) {
    this.#clock = clock;
    this.#report = report;
    this.#expected = clock.monotonic() + resting;
  }

  /** The timer does not keep the process alive. */
  start(): this {
    this.#sample(this.#watchers > 0 ? interval : resting);
    return this;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  watch(): () => void {
    this.#watchers += 1;
    if (this.#every !== interval && this.#timer !== undefined) {
      this.look(); // it may be late already
      this.#sample(interval);
    }
    let watching = true;
    return () => {
      if (watching) this.#watchers -= 1;
      watching = false;
    };
  }

  blame(culprit: string, ms: number): void {
    if (ms >= threshold && ms >= (this.#blamed?.ms ?? 0)) this.#blamed = { culprit, ms, at: this.#clock.monotonic() };
  }

  /** Its timer may fire after those that are asking why they fired. */
  longAt(): number | undefined {
    const now = this.#clock.monotonic();
    return this.#timer !== undefined && now - this.#expected >= long ? now : this.#longAt;
  }

  /** Blocked time in the last ten seconds, ms: total and longest. */
  recent(): { readonly blockedMs: number; readonly longestMs: number } {
    const times = this.#endedAfter(this.#clock.monotonic() - recently).map(({ ms }) => ms);
    return {
      blockedMs: Math.round(times.reduce((sum, ms) => sum + ms, 0)),
      longestMs: Math.round(Math.max(0, ...times)),
    };
  }

  since(at: number): readonly PastStall[] {
    // The timer may come after what the stall delayed.
    if (this.#timer !== undefined && this.#clock.monotonic() - this.#expected >= threshold) this.look();
    return this.#endedAfter(at);
  }

  #endedAfter(at: number): PastStall[] {
    return this.#recent.filter(({ from, ms }) => from + ms > at);
  }

  /** Called by the timer. */
  look(): void {
    const now = this.#clock.monotonic();
    const late = now - this.#expected;
    this.#expected = now + this.#every;
    const blamed = this.#blamed;
    this.#blamed = undefined;
    const { user, system } = process.cpuUsage(this.#cpu);
    this.#cpu = process.cpuUsage();
    if (late < threshold) return;
    if (late >= long) this.#longAt = now;
    this.totalMs += late;
    this.longestMs = Math.max(this.longestMs, late);
    const known = blamed !== undefined && now - blamed.at < late + memory;
    const busy = (user + system) / 1_000 > late / 2;
    const culprit = known ? blamed.culprit : undefined;
    this.#recent.push({ from: now - late, ms: late, culprit });
    if (this.#recent.length > mostRecent) this.#recent.shift();
    this.#report({ ms: late, culprit, busy });
  }

  #sample(every: number): void {
    clearInterval(this.#timer);
    this.#every = every;
    this.#expected = this.#clock.monotonic() + every;
    this.#timer = setInterval(() => this.#onTime(), every).unref();
  }

  #onTime(): void {
    this.look();
    if (this.#watchers === 0 && this.#every !== resting) this.#sample(resting);
  }
}
