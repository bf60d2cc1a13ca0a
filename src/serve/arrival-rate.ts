/** Minimum rate after an initial delay, bytes a second: slower messages hold memory for too long. */
const slowest = 64 * 1024;
const patience = 2_000;
const every = 500;

/** Why a message was refused. */
export const minimumRate = `has to arrive at ${slowest / 1024} KiB a second or faster`;

/**
 * Detects a peer that sends a large message too slowly. Counts its own looks instead of the time on the clock: what the peer
 * sent while this process stood still is read only after the timer that is late.
 */
export class ArrivalRate {
  readonly #timer: NodeJS.Timeout;
  #looks = 0;

  /** `received`: bytes so far, or undefined while this side reads none. */
  constructor(received: () => number | undefined, late: () => void) {
    this.#timer = setInterval(() => {
      const bytes = received();
      if (bytes === undefined) return;
      this.#looks += 1;
      if (bytes < ((this.#looks * every - patience) / 1_000) * slowest) late();
    }, every);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
