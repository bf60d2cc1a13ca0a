import type { Code } from "../../core/codes.ts";
import { VenturiError } from "../../core/errors.ts";
import type { Timeouts } from "../../core/provider.ts";

export type Phase = "connect" | "firstChunk" | "idle";

const told: Readonly<Record<keyof Timeouts, { code: Code; what: string }>> = {
  connect: { code: "unavailable", what: "the provider could not be reached" },
  firstChunk: { code: "timeout", what: "the provider sent no first chunk" },
  idle: { code: "idle_timeout", what: "the provider sent nothing more" },
  total: { code: "timeout", what: "the generation was not complete" },
};

/** The four time limits of one exchange: the whole, and the phase it is in. */
export class Deadlines {
  readonly #op: string;
  readonly #timeouts: Timeouts;
  readonly #expired: (error: VenturiError) => void;
  readonly #total: NodeJS.Timeout;
  #phase: NodeJS.Timeout | undefined;

  constructor(op: string, timeouts: Timeouts, expired: (error: VenturiError) => void) {
    this.#op = op;
    this.#timeouts = timeouts;
    this.#expired = expired;
    this.#total = this.#start("total", () => true);
  }

  /** The phase begins; it runs out only while `waits` says that silence is the server's. */
  enter(phase: Phase, waits: () => boolean = () => true): void {
    clearTimeout(this.#phase);
    this.#phase = this.#start(phase, waits);
  }

  /** Something arrived: the phase has its whole time again. */
  touch(): void {
    this.#phase?.refresh();
  }

  stop(): void {
    clearTimeout(this.#total);
    clearTimeout(this.#phase);
  }

  #start(limit: keyof Timeouts, waits: () => boolean): NodeJS.Timeout {
    const ms = this.#timeouts[limit];
    const timer = setTimeout(
      () => {
        if (waits()) this.#expired(this.#error(limit, ms));
        else timer.refresh();
      },
      Math.min(ms, 2 ** 31 - 1), // Node fires longer timers at once
    );
    return timer;
  }

  #error(limit: keyof Timeouts, ms: number): VenturiError {
    const { code, what } = told[limit];
    const message = `${what} within ${ms} ms; raise timeout.${limit} if it needs longer`;
    return new VenturiError(this.#op, code, message, { details: { timeout: limit, ms } });
  }
}
