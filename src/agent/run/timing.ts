import type { Clock } from "../../core/ports/clock.ts";
import { noStalls, type Stalls } from "../../core/ports/stalls.ts";
import { noTiming, type Timing } from "../../core/run/events.ts";

export type TimingPart = keyof Timing;

export interface TimeKeeperOptions {
  /** When this owner claimed the run, monotonic ms; now when absent. */
  readonly startedAt?: number | undefined;
  /** Wall time of the run before the claim, ms. */
  readonly elapsed?: number;
  /** Part of `elapsed` spent waiting for approval. */
  readonly approval?: number;
  readonly stalls?: Stalls | undefined;
}

/**
 * Breaks a run's wall time down. Exactly one part is active at any moment, so the parts add up by construction. Time the
 * process was stalled is deducted from the part it fell in.
 */
export class TimeKeeper {
  readonly #clock: Clock;
  readonly #stalls: Stalls;
  readonly #spent: Record<TimingPart, number> = { ...noTiming };
  /** The active part. */
  part: TimingPart = "runtime";
  #since: number;
  #stalledBefore: number;
  /** Called on each change of the active part. */
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
