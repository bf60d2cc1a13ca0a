import type { Clock } from "../../core/clock.ts";
import { VenturiError } from "../../core/errors.ts";
import type { AuditEntry } from "../../core/journal.ts";
import type { Log } from "../../core/log.ts";

const window = 60_000;
/** Failures of one address a minute that are answered one by one. */
const patience = 20;
/** Addresses told apart a minute: those beyond are counted together, so that strangers cannot fill the audit. */
const mostAddresses = 50;
const others = "others";

export interface FailedLoginsParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: (entry: AuditEntry) => void;
}

/**
 * Counts what failed to authenticate. Each address is told in the log and the audit at its first failure of a minute, and at the
 * end with its number. Past `patience` it is answered with `rate_limited`; a good key is let in all the same, or one stranger
 * behind a proxy would lock out everyone behind it.
 */
export class FailedLogins {
  readonly #parts: FailedLoginsParts;
  readonly #counts = new Map<string, number>();
  #stop: (() => void) | undefined;

  constructor(parts: FailedLoginsParts) {
    this.#parts = parts;
  }

  /** What to answer instead of `error`. */
  note(address: string, error: VenturiError): VenturiError {
    const known = this.#counts.has(address) || this.#counts.size < mostAddresses ? address : others;
    const count = (this.#counts.get(known) ?? 0) + 1;
    this.#counts.set(known, count);
    this.#stop ??= this.#parts.clock.after(window, () => this.flush());
    if (count === 1) {
      this.#parts.log.warn("authentication failed", { address: known, reason: error.message });
      this.#parts.audit({ action: "auth.failed", by: known, details: { reason: error.message } });
    }
    if (count <= patience) return error;
    return new VenturiError("auth.check", "rate_limited", "too many requests without a valid key; try again later", {
      details: { retryAfterMs: window },
    });
  }

  /** The end of the minute. */
  flush(): void {
    this.#stop?.();
    this.#stop = undefined;
    for (const [address, count] of this.#counts) {
      if (count === 1) continue;
      this.#parts.log.warn("authentication failed again and again", { address, count });
      this.#parts.audit({ action: "auth.failed", by: address, details: { count } });
    }
    this.#counts.clear();
  }
}
