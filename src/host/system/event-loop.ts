import { PerformanceObserver } from "node:perf_hooks";
import type { Clock } from "../../core/ports/clock.ts";
import type { Culprit, PastStall, Stalls } from "../../core/ports/stalls.ts";
import { PluginTimes } from "./plugin-times.ts";

/** Sampling interval while someone watches, and how late a sample must be to count as a stall, ms. */
const interval = 50;
const threshold = 50;
/** Sampling interval while nobody watches, ms: each sample wakes an otherwise idle process. */
const resting = 1_000;
/** A stall this long causes connections and timeouts to fail, ms. */
const long = 500;
/** Garbage collections that take this much of a second slow everyone down, ms; less is normal. */
const pressure = 200;
const pressureWindow = 1_000;

const recently = 10_000;
const mostRecent = 200;
const none: readonly PastStall[] = [];

function usedTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

export interface Stall {
  readonly part: PastStall["part"];
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
  /** Processor time of this process until the last sample, µs. */
  #used = usedTime();
  #order = 0;
  readonly #plugins = new PluginTimes();
  /** Garbage collections of the last second. */
  #collections: { readonly from: number; readonly ms: number }[] = [];
  #collector: PerformanceObserver | undefined;

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
    this.#rest();
  }

  watch(): () => void {
    this.#watchers += 1;
    if (this.#timer !== undefined) this.#observeCollections();
    if (this.#every !== interval && this.#timer !== undefined) {
      this.look(); // The timer may be late already.
      this.#sample(interval);
    }
    let watching = true;
    return () => {
      if (watching) this.#watchers -= 1;
      watching = false;
    };
  }

  get last(): number {
    return this.#order;
  }

  during(culprit: Culprit): () => void {
    return this.#plugins.begin(culprit, this.#clock);
  }

  blame(culprit: Culprit, ms: number): void {
    if (ms >= threshold) this.#plugins.ran(culprit, this.#clock.monotonic(), ms);
  }

  /** Checks now: this timer may fire after the ones that ask why they fired late. */
  longAt(): number | undefined {
    const now = this.#clock.monotonic();
    return this.#timer !== undefined && now - this.#expected >= long ? now : this.#longAt;
  }

  /** Blocked time in the last ten seconds, ms: total and longest. */
  recent(): { readonly blockedMs: number; readonly longestMs: number } {
    const since = this.#clock.monotonic() - recently;
    const times = this.#recent
      .filter(({ part, from, ms }) => part === "blocked" && from + ms > since)
      .map(({ ms }) => ms);
    return {
      blockedMs: Math.round(times.reduce((sum, ms) => sum + ms, 0)),
      longestMs: Math.round(Math.max(0, ...times)),
    };
  }

  since(order: number): readonly PastStall[] {
    // This timer may fire after those that the stall delayed.
    if (this.#timer !== undefined && this.#clock.monotonic() - this.#expected >= threshold) this.look();
    return order >= this.#order ? none : this.#recent.filter((stall) => stall.order > order);
  }

  /** Called by the timer. */
  look(): void {
    const now = this.#clock.monotonic();
    const late = now - this.#expected;
    this.#expected = now + this.#every;
    const before = this.#used;
    this.#used = usedTime();
    const used = (this.#used - before) / 1_000;
    if (late < threshold) return;
    if (late >= long) this.#longAt = now;
    this.totalMs += late;
    this.longestMs = Math.max(this.longestMs, late);
    this.#record({ part: "blocked", from: now - late, ms: late }, used);
  }

  /** Called with Node's measurements, a little after the collection. */
  collected(collections: readonly { readonly startTime: number; readonly duration: number }[]): void {
    for (const { startTime: from, duration: ms } of collections) {
      this.#collections.push({ from, ms });
      this.#collections = this.#collections.filter((each) => each.from > from - pressureWindow);
      const sum = this.#collections.reduce((total, each) => total + each.ms, 0);
      if (sum < pressure) continue;
      const since = this.#collections[0]?.from ?? from;
      this.#collections = [];
      this.#record({ part: "gc", from: since, ms: sum }, sum);
    }
  }

  #record(stall: Pick<PastStall, "part" | "from" | "ms">, used: number): void {
    const { part, from, ms } = stall;
    const blamed = this.#plugins.culprit(from, from + ms);
    this.#order += 1;
    // On a crowded machine a busy process still gets some CPU time; a suspended one gets none.
    this.#recent.push({ order: this.#order, ...stall, ...blamed, busy: used > ms / 10 });
    if (this.#recent.length > mostRecent) this.#recent.shift();
    const culprit =
      blamed.culprit && !blamed.isGuess ? `${blamed.culprit.what} of run ${blamed.culprit.run}` : undefined;
    this.#report({ part, ms, culprit, busy: used > ms / 2 });
  }

  #observeCollections(): void {
    if (this.#collector !== undefined) return;
    this.#collector = new PerformanceObserver((list) => this.collected(list.getEntries()));
    this.#collector.observe({ entryTypes: ["gc"] });
  }

  #rest(): void {
    this.#collector?.disconnect();
    this.#collector = undefined;
    this.#collections = [];
  }

  #sample(every: number): void {
    clearInterval(this.#timer);
    this.#every = every;
    this.#expected = this.#clock.monotonic() + every;
    this.#timer = setInterval(() => this.#onTime(), every).unref();
  }

  #onTime(): void {
    this.look();
    if (this.#watchers > 0 || this.#every === resting) return;
    this.#sample(resting);
    this.#rest();
  }
}
