import type { Clock } from "../core/ports/clock.ts";

/** Runs whose clocks are remembered. */
const most = 10_000;

/**
 * The time of a run's events: monotonic from when this process first had the run, so that a wall clock that is set meanwhile makes
 * nothing of it look long. A run that begins later follows the new time.
 */
export class RunClocks {
  readonly #clock: Clock;
  /** Of wall time from monotonic time, ms, by run. */
  readonly #offsets = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Remembers the run until `forget`, and answers its offset. */
  offsetOf(run: string): number {
    const known = this.#offsets.get(run);
    if (known !== undefined) return known;
    const offset = this.#clock.now() - this.#clock.monotonic();
    this.#offsets.set(run, offset);
    const [oldest] = this.#offsets.keys();
    if (this.#offsets.size > most && oldest !== undefined) this.forget(oldest);
    return offset;
  }

  /** The run goes on after an event of this time, perhaps of a process whose clock is ahead of this one's. Answers its offset. */
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
