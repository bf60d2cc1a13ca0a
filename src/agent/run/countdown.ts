import type { Clock } from "../../core/ports/clock.ts";

/** A timer that can be paused, for example while waiting for approval. Resumes when every pause has been released. */
export class Countdown {
  readonly #clock: Clock;
  readonly #end: () => void;
  #left: number;
  #since = 0;
  #holds = 0;
  #stop: (() => void) | undefined;

  constructor(clock: Clock, ms: number, end: () => void) {
    this.#clock = clock;
    this.#left = ms;
    this.#end = end;
    this.#go();
  }

  hold(): void {
    this.#holds += 1;
    if (this.#stop === undefined) return;
    this.#stop();
    this.#stop = undefined;
    this.#left = Math.max(0, this.#left - (this.#clock.monotonic() - this.#since));
  }

  letGo(): void {
    this.#holds -= 1;
    if (this.#holds === 0) this.#go();
  }

  /** Permanently stops the timer. */
  stop(): void {
    this.#holds = Number.POSITIVE_INFINITY;
    this.#stop?.();
    this.#stop = undefined;
  }

  #go(): void {
    this.#since = this.#clock.monotonic();
    this.#stop = this.#clock.after(this.#left, this.#end);
  }
}
