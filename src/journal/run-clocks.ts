import type { Clock } from "../core/ports/clock.ts";

/** How many runs' clocks are remembered. */
const most = 10_000;

/**
 * Event times of runs: monotonic since this process first saw the run, so that setting the wall clock does not distort durations. Later
 * runs follow the new wall time.
 */
export class RunClocks {
  readonly #clock: Clock;
  /** Wall time minus monotonic time, ms, by run. */
  readonly #offsets = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The run's offset, remembered until `forget`. */
  offsetOf(run: string): number {
    const known = this.#offsets.get(run);
    if (known !== undefined) return known;
    const offset = this.#clock.now() - this.#clock.monotonic();
    this.#offsets.set(run, offset);
    const [oldest] = this.#offsets.keys();
    if (this.#offsets.size > most && oldest !== undefined) this.forget(oldest);
    return offset;
  }

  /** Continues after an event of this time, which may come from a process whose clock is ahead. Returns the offset. */
  follow(run: string, at: number): number {
    const offset = Math.max(this.offsetOf(run), at - this.#clock.monotonic());
    this.#offsets.set(run, offset);
    return offset;
  }

  now(run: string): number {
    const offset = this.#offsets.get(run);
    return offset === undefined ? this.#clock.now() : Math.round(this.#clock.monotonic() + offset);
  }

  forget(run: string): void {
    this.#offsets.delete(run);
  }
}
