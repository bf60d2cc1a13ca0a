import { VenturiError } from "../../core/errors/errors.ts";
import type { AuditEntry } from "../../core/journal/audit.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";

const window = 60_000;
/** Failures per address and minute before further ones are rate limited. */
const patience = 20;
/** Addresses tracked per minute. Further ones are counted together, so that attackers cannot flood the audit log. */
const mostAddresses = 50;
const others = "others";

export interface FailedLoginsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: (entry: AuditEntry) => void;
}

/**
 * Counts failed logins. An address appears in the log and the audit at its first failure in a minute, and at the minute's end with a count.
 * Past `patience`, failures get `rate_limited`. A valid key is still accepted, or an attacker behind a proxy would lock out everyone behind
 * it.
 */
export class FailedLogins {
  readonly #deps: FailedLoginsDeps;
  readonly #counts = new Map<string, number>();
  #stop: (() => void) | undefined;

  constructor(deps: FailedLoginsDeps) {
    this.#deps = deps;
  }

  /** The error to send instead of `error`. */
  note(address: string, error: VenturiError): VenturiError {
    const known = this.#counts.has(address) || this.#counts.size < mostAddresses ? address : others;
    const count = (this.#counts.get(known) ?? 0) + 1;
    this.#counts.set(known, count);
    this.#stop ??= this.#deps.clock.after(window, () => this.flush());
    if (count === 1) {
      // A cause is for the operator only.
      const reason = error.cause instanceof Error ? error.cause.message : error.message;
      this.#deps.log.warn("authentication failed", { address: known, reason });
      this.#deps.audit({ action: "auth.failed", by: known, details: { reason } });
    }
    if (count <= patience) return error;
    const message = `${count} requests without a valid key or signature from this address within a minute; at most ${patience} are answered; try again later`;
    const details = { limit: "failedLogins", value: count, most: patience, retryAfterMs: window };
    return new VenturiError("auth.check", "rate_limited", message, { details });
  }

  /** Called at the end of each minute. */
  flush(): void {
    this.#stop?.();
    this.#stop = undefined;
    for (const [address, count] of this.#counts) {
      if (count === 1) continue;
      this.#deps.log.warn("authentication failed again and again", { address, count });
      this.#deps.audit({ action: "auth.failed", by: address, details: { count } });
    }
    this.#counts.clear();
  }
}
