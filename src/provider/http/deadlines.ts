import { performance } from "node:perf_hooks";
import type { Code } from "../../core/errors/codes.ts";
import { VenturiError } from "../../core/errors/errors.ts";
import type { Timeouts } from "../../core/model/provider.ts";

export type Phase = "connect" | "firstChunk" | "firstToken" | "idle";

const reasons: Readonly<Record<keyof Timeouts, { code: Code; what: string; key?: keyof Timeouts }>> = {
  connect: { code: "unavailable", what: "the provider could not be reached" },
  firstChunk: { code: "timeout", what: "the provider sent no first chunk" },
  firstToken: { code: "timeout", what: "the provider sent nothing of an answer, only comments,", key: "firstChunk" },
  idle: { code: "idle_timeout", what: "the provider sent nothing more" },
  total: { code: "timeout", what: "the generation was not complete" },
};

/** The exchange that the timeouts are for. */
export interface Timed {
  /** When the server was last heard from; undefined while nothing is expected of it. */
  readonly quietSince: number | undefined;
  expired(error: VenturiError): void;
}

/** The four timeouts of one exchange: total, and that of its current phase. */
export class Deadlines {
  readonly #op: string;
  readonly #timeouts: Timeouts;
  readonly #exchange: Timed;
  readonly #total: NodeJS.Timeout;
  #phase: NodeJS.Timeout | undefined;
  #limit: Phase = "connect";
  #listens = false;
  #askedAt = 0;

  constructor(op: string, timeouts: Timeouts, exchange: Timed) {
    this.#op = op;
    this.#timeouts = timeouts;
    this.#exchange = exchange;
    this.#total = timer(this.#onTotal, timeouts.total);
  }

  /**
   * Starts a phase. With `listens` it lasts as long as the server is heard from, which is asked only when the timer fires, so that a
   * chunk costs no timer.
   */
  enter(phase: Phase, listens = false): void {
    clearTimeout(this.#phase);
    this.#limit = phase;
    this.#listens = listens;
    if (phase === "firstChunk") this.#askedAt = performance.now();
    const ms = this.#msOf(phase);
    this.#phase = timer(this.#onPhase, phase === "firstToken" ? timeLeft(this.#askedAt, ms) : ms);
  }

  stop(): void {
    clearTimeout(this.#total);
    clearTimeout(this.#phase);
    this.#phase = undefined;
  }

  #msOf(limit: Phase): number {
    return this.#timeouts[limit] ?? this.#timeouts.firstChunk;
  }

  readonly #onTotal = (): void => this.#exchange.expired(this.#error("total", this.#timeouts.total));

  readonly #onPhase = (): void => {
    if (this.#heard()) return;
    // If this process itself stalled, unread bytes are waiting; they are read before the immediate runs.
    const phase = this.#phase;
    setImmediate(() => {
      if (this.#phase !== phase || this.#heard()) return;
      this.#exchange.expired(this.#error(this.#limit, this.#msOf(this.#limit)));
    });
  };

  /** Keeps waiting if the server was heard from meanwhile. */
  #heard(): boolean {
    const left = this.#listens ? timeLeft(this.#exchange.quietSince, this.#msOf(this.#limit)) : 0;
    if (left > 0) this.#phase = timer(this.#onPhase, left);
    return left > 0;
  }

  #error(limit: keyof Timeouts, ms: number): VenturiError {
    const { code, what, key = limit } = reasons[limit];
    const message = `${what} within ${ms} ms; raise timeout.${key} if it needs longer`;
    return new VenturiError(this.#op, code, message, { details: { timeout: key, ms } });
  }
}

/** Node fires longer timers immediately. */
const timer = (callback: () => void, ms: number): NodeJS.Timeout => setTimeout(callback, Math.min(ms, 2 ** 31 - 1));

/** Time left of `ms` since the server was last heard from. A timer may fire a fraction of a millisecond early. */
function timeLeft(quietSince: number | undefined, ms: number): number {
  if (quietSince === undefined) return ms;
  const left = ms - (performance.now() - quietSince);
  return left < 1 ? 0 : left;
}
