import type { Clock } from "../core/clock.ts";
import type { Timing } from "../core/events.ts";

export type TimingPart = keyof Timing;

/**
 * Where a run's time goes. At every moment exactly one part is running, so the parts add up to the wall time by
 * construction.
 */
export class TimeKeeper {
  readonly #clock: Clock;
  readonly #spent: Record<TimingPart, number> = {
    providerWait: 0,
    providerStream: 0,
    tool: 0,
    approval: 0,
    client: 0,
    runtime: 0,
  };
  /** The part that runs now. */
  part: TimingPart = "runtime";
  #since: number;
  /** Told of each change of the part. */
  onEnter: (part: TimingPart) => void = () => {};

  /** `elapsed`: wall time of the run before this attempt took it up, and how much of it people took. */
  constructor(clock: Clock, elapsed: number, approval = 0) {
    this.#clock = clock;
    this.#spent.approval = Math.min(Math.max(0, elapsed), approval);
    this.#spent.runtime = Math.max(0, elapsed) - this.#spent.approval;
    this.#since = clock.monotonic();
  }

  enter(part: TimingPart): void {
    if (part === this.part) return;
    const now = this.#clock.monotonic();
    this.#spent[this.part] += now - this.#since;
    this.#since = now;
    this.part = part;
    this.onEnter(part);
  }

  /** Rounded to microseconds. */
  total(): Timing {
    const now = this.#clock.monotonic();
    this.#spent[this.part] += now - this.#since;
    this.#since = now;
    const timing = { ...this.#spent };
    for (const part of Object.keys(timing) as TimingPart[]) timing[part] = Math.round(timing[part] * 1000) / 1000;
    return timing;
  }
}
