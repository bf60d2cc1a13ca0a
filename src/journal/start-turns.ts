import type { Clock } from "../core/ports/clock.ts";

/** Runs that may start in one turn of the event loop. */
const perTurn = 8;

/**
 * Spreads starts over turns of the event loop. Starting a run costs about a millisecond, so a burst of a thousand in one turn
 * would hold up every open stream (322 ms); eight at a time leave gaps (45–70 ms). Two at a time make a burst last a tenth longer.
 */
export class StartTurns {
  readonly #clock: Clock;
  #left = perTurn;
  #turning = false;
  readonly #waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined: start now. A promise: wait for it first. */
  take(): Promise<void> | undefined {
    if (!this.#turning) {
      this.#turning = true;
      this.#clock.turn(this.#turn);
    }
    if (this.#left > 0) {
      this.#left -= 1;
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  readonly #turn = (): void => {
    const next = this.#waiting.splice(0, perTurn);
    this.#left = perTurn - next.length;
    this.#turning = next.length > 0;
    if (this.#turning) this.#clock.turn(this.#turn);
    for (const start of next) start();
  };
}
