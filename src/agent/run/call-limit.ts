import type { Clock } from "../../core/ports/clock.ts";
import { Countdown } from "./countdown.ts";

export interface LimitOptions {
  readonly ms: number;
  /** The plugin's own time is over. */
  readonly tooSlow: () => void;
  /** The time it may wait for the journal is over. */
  readonly journalTooSlow: () => void;
}

/**
 * Time limit of a call into a plugin. Time spent waiting for the journal has a separate limit: a slow store is not the plugin's fault, and
 * the error must name which of the two was too slow.
 */
export class CallLimit {
  readonly #clock: Clock;
  readonly #options: LimitOptions;
  readonly #own: Countdown;
  /** Created when needed: most calls never wait for the journal. */
  #journal: Countdown | undefined;
  #waits = 0;
  #stopped = false;

  constructor(clock: Clock, options: LimitOptions) {
    this.#clock = clock;
    this.#options = options;
    this.#own = new Countdown(clock, options.ms, options.tooSlow);
  }

  /** The plugin waits for a person. */
  hold(): void {
    this.#own.hold();
  }

  letGo(): void {
    this.#own.letGo();
  }

  /** The plugin waits for the journal. */
  beginWait(): void {
    this.#own.hold();
    if (this.#waits++ > 0 || this.#stopped) return;
    if (this.#journal === undefined) {
      const { ms, journalTooSlow } = this.#options;
      this.#journal = new Countdown(this.#clock, ms, journalTooSlow);
    } else this.#journal.letGo();
  }

  endWait(): void {
    if (--this.#waits === 0) this.#journal?.hold();
    this.#own.letGo();
  }

  stop(): void {
    this.#stopped = true;
    this.#own.stop();
    this.#journal?.stop();
  }
}
