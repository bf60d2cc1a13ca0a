import type { Clock } from "../../core/clock.ts";
import type { VenturiError } from "../../core/errors.ts";
import { type Log, silentLog } from "../../core/log.ts";

const threshold = 5;
const pause = 30_000;

/** Called when the breaker opens, half-opens or closes. */
export type BreakerListener = (
  change: "opened" | "probed" | "closed",
  facts: Readonly<Record<string, unknown>>,
) => void;

/**
 * One per provider. Opens for 30 s after five consecutive failures that indicate provider trouble, unless it is answering more
 * calls than that right now; then a single call probes it, and its outcome decides.
 */
export class Breaker {
  readonly #clock: Clock;
  readonly #changed: BreakerListener;
  /** The last failure that counted. */
  lastError: { readonly at: number; readonly code: string; readonly err: string } | undefined;
  /**
   * Calls whose answer is streaming. Failures are known at once, successes only at the end: of many long streams the first five
   * that break off would look like an outage.
   */
  answering = 0;
  #failures = 0;
  #openedAt: number | undefined;
  #probing = false;

  constructor(clock: Clock, changed: BreakerListener = () => {}) {
    this.#clock = clock;
    this.#changed = changed;
  }

  /** Time until it half-opens, ms. */
  get leftMs(): number {
    return this.#openedAt === undefined ? 0 : Math.max(0, this.#openedAt + pause - this.#clock.monotonic());
  }

  get state(): "closed" | "open" | "half-open" {
    if (this.#openedAt === undefined) return "closed";
    return this.#clock.monotonic() - this.#openedAt >= pause ? "half-open" : "open";
  }

  /** Whether a call may be made now. Half-open admits only one. */
  admit(): boolean {
    const state = this.state;
    if (state === "closed") return true;
    if (state === "open" || this.#probing) return false;
    this.#probing = true;
    this.#changed("probed", {});
    return true;
  }

  succeeded(): void {
    if (this.#openedAt !== undefined) this.#changed("closed", {});
    this.#failures = 0;
    this.#openedAt = undefined;
    this.#probing = false;
  }

  failed(error: VenturiError): void {
    this.#probing = false;
    if (!blames(error)) return;
    this.lastError = { at: this.#clock.now(), code: error.code, err: error.message };
    this.#failures += 1;
    if (this.#openedAt === undefined && this.#failures < Math.max(threshold, this.answering)) return;
    if (this.state !== "open") {
      this.#changed("opened", { failures: this.#failures, ms: pause, code: error.code, reason: error.message });
    }
    this.#openedAt = this.#clock.monotonic();
  }

  /** The call ended without telling anything about the provider's health (cancelled). */
  abandoned(): void {
    this.#probing = false;
  }
}

/** A wrong key or a bad request says nothing about the provider's health; rate limits are handled by waiting. */
const blames = (error: VenturiError): boolean =>
  error.code === "unavailable" ||
  error.code === "timeout" ||
  error.code === "idle_timeout" ||
  error.code === "stream_error";

/** Breakers of all providers, shared by all runs. */
export class Breakers {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #breakers = new Map<string, Breaker>();

  constructor(clock: Clock, log: Log = silentLog) {
    this.#clock = clock;
    this.#log = log;
  }

  of(provider: string): Breaker {
    let breaker = this.#breakers.get(provider);
    if (breaker === undefined) {
      breaker = new Breaker(this.#clock, (change, facts) => {
        const level = change === "opened" ? "warn" : "info";
        this.#log[level](`breaker ${change}`, { provider, ...facts });
      });
      this.#breakers.set(provider, breaker);
    }
    return breaker;
  }
}
