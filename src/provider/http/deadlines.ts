import { performance } from "node:perf_hooks";
import type { Code } from "../../core/errors/codes.ts";
import { VenturiError } from "../../core/errors/errors.ts";
import type { Timeouts } from "../../core/model/provider.ts";

export type Phase = "connect" | "firstChunk" | "firstToken" | "idle";

const reasons: Readonly<Record<keyof Timeouts, { code: Code; what: string; key?: keyof Timeouts }>> = {
  connect: { code: "unavailable", what: "the provider could not be reached" },
  firstChunk: { code: "timeout", what: "the provider sent no first chunk" },
  firstToken: { code: "timeout", what: "the provider sent no part of an answer, only comments,", key: "firstChunk" },
  idle: { code: "idle_timeout", what: "the provider sent nothing more" },
  total: { code: "timeout", what: "the generation was not complete" },
};

/** The four timeouts of one exchange: total, and that of its current phase. */
export class Deadlines {
  readonly #op: string;
  readonly #timeouts: Timeouts;
  readonly #expired: (error: VenturiError) => void;
  readonly #total: NodeJS.Timeout;
  #phase: NodeJS.Timeout | undefined;
  #askedAt = 0;

  constructor(op: string, timeouts: Timeouts, expired: (error: VenturiError) => void) {
    this.#op = op;
    this.#timeouts = timeouts;
    this.#expired = expired;
    this.#total = this.#start("total");
  }

  /**
   * Starts a phase. `quietSince` returns when the server was last heard from, or undefined while nothing is expected of it. It
   * is evaluated only when the timer fires, so a chunk costs no timer.
   */
  enter(phase: Phase, quietSince?: () => number | undefined): void {
    clearTimeout(this.#phase);
    if (phase === "firstChunk") this.#askedAt = performance.now();
    const wait = phase === "firstToken" ? timeLeft(this.#askedAt, this.#limit(phase)) : undefined;
    this.#phase = this.#start(phase, quietSince, wait);
  }

  #limit(limit: keyof Timeouts): number {
    return this.#timeouts[limit] ?? this.#timeouts.firstChunk;
  }

  stop(): void {
    clearTimeout(this.#total);
    clearTimeout(this.#phase);
    this.#phase = undefined;
  }

  #start(limit: keyof Timeouts, quietSince?: () => number | undefined, wait?: number): NodeJS.Timeout {
    const ms = this.#limit(limit);
    const again = (expired: () => void) => {
      const left = quietSince === undefined ? 0 : timeLeft(quietSince(), ms);
      if (left > 0) this.#phase = this.#start(limit, quietSince, left);
      else expired();
    };
    const expire = () => this.#expired(this.#error(limit, ms));
    const onTime = () =>
      again(() => {
        if (limit === "total") return expire();
        // If this process itself stalled, unread bytes are waiting; they are read before the immediate runs.
        const phase = this.#phase;
        setImmediate(() => this.#phase === phase && again(expire));
      });
    return setTimeout(onTime, Math.min(wait ?? ms, 2 ** 31 - 1)); // Node fires longer timers immediately.
  }

  #error(limit: keyof Timeouts, ms: number): VenturiError {
    const { code, what, key = limit } = reasons[limit];
    const message = `${what} within ${ms} ms; raise timeout.${key} if it needs longer`;
    return new VenturiError(this.#op, code, message, { details: { timeout: key, ms } });
  }
}

/** Time left of `ms` since the server was last heard from. A timer may fire a fraction of a millisecond early. */
function timeLeft(quietSince: number | undefined, ms: number): number {
  if (quietSince === undefined) return ms;
  const left = ms - (performance.now() - quietSince);
  return left < 1 ? 0 : left;
}
