import type { Clock } from "../core/ports/clock.ts";

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/** A clock that advances only on request. */
export class VirtualClock implements Clock {
  #time: number;
  #timers: Timer[] = [];
  #order = 0;

  constructor(start = 1_700_000_000_000) {
    this.#time = start;
  }

  now(): number {
    return Math.floor(this.#time);
  }

  monotonic(): number {
    return this.#time;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#time + ms, order: this.#order++, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Uses the real event loop; virtual time does not advance. */
  turn(callback: () => void): void {
    setImmediate(callback);
  }

  get pending(): number {
    return this.#timers.length;
  }

  /** Advances by `ms`, firing due timers in order, with the event loop drained before, between and after. */
  async advance(ms: number): Promise<void> {
    const target = this.#time + ms;
    await drain();
    for (let next = this.#due(target); next !== undefined; next = this.#due(target)) {
      this.#time = Math.max(this.#time, next.at);
      this.#timers = this.#timers.filter((other) => other !== next);
      next.callback();
      await drain();
    }
    this.#time = target;
  }

  /** Advances to the next timer, if there is one. */
  async next(): Promise<boolean> {
    await drain();
    const next = this.#due(Number.POSITIVE_INFINITY);
    if (next === undefined) return false;
    await this.advance(Math.max(0, next.at - this.#time));
    return true;
  }

  #due(until: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.at > until) continue;
      if (first === undefined || timer.at < first.at || (timer.at === first.at && timer.order < first.order))
        first = timer;
    }
    return first;
  }
}

/** Lets pending promises and immediates finish. */
const drain = async () => {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
};
