import type { VenturiError } from "../../core/errors/errors.ts";
import type { Clock } from "../../core/ports/clock.ts";

const threshold = 5;
const pause = 30_000;

/** Who makes a call. */
export interface Caller {
  readonly tenant: string;
  readonly run: string;
}

export type CircuitState = "closed" | "open" | "half-open";

/** Called when a circuit opens, half-opens or closes. */
export type CircuitListener = (
  change: "opened" | "probed" | "closed",
  facts: Readonly<Record<string, unknown>>,
) => void;

export interface CircuitScope {
  /**
   * Share of the threshold that one tenant's failures can make up. Below 1, no tenant can open the circuit alone or keep it open: after its
   * failed probe, its next one does not count.
   */
  readonly ofOneTenant: number;
  readonly changed?: CircuitListener;
}

/**
 * Opens for 30 s when five runs in a row failed, unless more calls than that are being answered right now; then a single call
 * probes, and its outcome decides. A run counts once, however often it retries.
 */
export class Circuit {
  readonly #clock: Clock;
  readonly #scope: CircuitScope;
  /**
   * Calls whose answer is streaming. Failures are known at once but successes only at the end, so five of many long streams breaking would
   * look like an outage.
   */
  answering = 0;
  /** Failed runs since the last success, by tenant, with the weight of each. Not extended while open. */
  readonly #failed = new Map<string, Map<string, number>>();
  #failures = 0;
  #openedAt: number | undefined;
  #probing: Caller | undefined;
  /** Tenant of the last probe that failed. */
  #failedProbe: string | undefined;

  constructor(clock: Clock, scope: CircuitScope) {
    this.#clock = clock;
    this.#scope = scope;
  }

  /** Time until it half-opens, ms. */
  get leftMs(): number {
    return this.#openedAt === undefined ? 0 : Math.max(0, this.#openedAt + pause - this.#clock.monotonic());
  }

  get state(): CircuitState {
    if (this.#openedAt === undefined) return "closed";
    return this.leftMs <= 0 ? "half-open" : "open";
  }

  /** Whether it can be forgotten without losing information. */
  get idle(): boolean {
    return this.#openedAt === undefined && this.#failed.size === 0 && this.answering === 0;
  }

  /** Whether a call may be made now. Half-open admits only one. */
  admit(caller: Caller): boolean {
    const { state } = this;
    if (state === "closed") return true;
    if (state === "open" || this.#probing !== undefined) return false;
    this.#probing = caller;
    this.#scope.changed?.("probed", {});
    return true;
  }

  succeeded(): void {
    if (this.#openedAt !== undefined) this.#scope.changed?.("closed", {});
    this.#failed.clear();
    this.#failures = 0;
    this.#openedAt = undefined;
    this.#probing = undefined;
    this.#failedProbe = undefined;
  }

  failed(caller: Caller, error: VenturiError, weight: number): void {
    this.abandoned(caller);
    this.#failures += 1;
    const { state } = this;
    if (state === "open") return;
    if (state === "closed") {
      this.#note(caller, weight);
      if (this.#weight() < this.#needed) return;
    } else {
      if (this.#scope.ofOneTenant < 1 && this.#failedProbe === caller.tenant) return;
      this.#failedProbe = caller.tenant;
    }
    this.#openedAt = this.#clock.monotonic();
    const facts = { failures: this.#failures, ms: pause, code: error.code, reason: error.message };
    this.#scope.changed?.("opened", facts);
  }

  /** The call ended without telling anything about the provider's health. */
  abandoned({ run }: Caller): void {
    if (this.#probing?.run === run) this.#probing = undefined;
  }

  get #needed(): number {
    return Math.max(threshold, this.answering);
  }

  #note({ tenant, run }: Caller, weight: number): void {
    const runs = this.#failed.get(tenant) ?? new Map<string, number>();
    this.#failed.set(tenant, runs);
    // Enough failures of one tenant; without a success the list would grow forever.
    if (runs.size >= this.#needed * 2 && !runs.has(run)) return;
    runs.set(run, Math.max(weight, runs.get(run) ?? 0));
  }

  #weight(): number {
    const most = this.#needed * this.#scope.ofOneTenant;
    let sum = 0;
    for (const runs of this.#failed.values()) {
      let own = 0;
      for (const weight of runs.values()) own += weight;
      sum += Math.min(own, most);
    }
    return sum;
  }
}
