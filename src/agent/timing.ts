import type { Clock } from "../core/clock.ts";
import { noTiming, type Timing } from "../core/events.ts";
import { noStalls, type Stalls } from "../core/stalls.ts";

export type TimingPart = keyof Timing;

export interface TimeKeeperOptions {
  /** When this owner took the run up, by the monotonic clock; now when absent. */
  readonly startedAt?: number | undefined;
  /** Wall time of the run before that, ms. */
  readonly elapsed?: number;
  /** How much of `elapsed` people took. */
  readonly approval?: number;
  readonly stalls?: Stalls | undefined;
}

/**
 * Where a run's time goes. At every moment exactly one part is running, so the parts add up to the wall time by
 * construction. What the process as a whole was stalled for is taken out of the part it fell in.
 */
export class TimeKeeper {
  readonly #clock: Clock;
  readonly #stalls: Stalls;
  readonly #spent: Record<TimingPart, number> = { ...noTiming };
  /** The part that runs now. */
  part: TimingPart = "runtime";
  #since: number;
  #stalledBefore: number;
  /** Told of each change of the part. */
  onEnter: (part: TimingPart) => void = () => {};

  constructor(clock: Clock, { startedAt, elapsed = 0, approval = 0, stalls = noStalls }: TimeKeeperOptions = {}) {
    this.#clock = clock;
    this.#stalls = stalls;
    this.#spent.approval = Math.min(Math.max(0, elapsed), approval);
    this.#spent.runtime = Math.max(0, elapsed) - this.#spent.approval;
    this.#since = startedAt ?? clock.monotonic();
    this.#stalledBefore = stalls.totalMs;
  }

  enter(part: TimingPart): void {
    if (part === this.part) return;
    this.#settle();
    this.part = part;
    this.onEnter(part);
  }

  /** Rounded to microseconds. */
  total(): Timing {
    this.#settle();
    const timing = { ...this.#spent };
    for (const part of Object.keys(timing) as TimingPart[]) timing[part] = Math.round(timing[part] * 1000) / 1000;
    return timing;
  }

  #settle(): void {
    const now = this.#clock.monotonic();
    const { totalMs } = this.#stalls;
    const passed = now - this.#since;
    const stalled = Math.min(passed, totalMs - this.#stalledBefore);
    this.#spent[this.part] += passed - stalled;
    this.#spent.stalled += stalled;
    this.#since = now;
    this.#stalledBefore = totalMs;
  }
}
