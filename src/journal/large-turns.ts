import type { OwnedLog } from "./run-log.ts";

/** A log with more bytes than this to commit waits for its turn. */
export const large = 256 * 1024;
/** Number of tenants whose last turn is remembered. */
const mostTenants = 1_000;

export const isLarge = (log: OwnedLog): boolean => log.waiting > large && !log.ended;

/**
 * Schedules logs with much to commit: one per transaction next to all small ones, rotating between tenants. A tenant that writes a lot thus
 * delays others by one of its logs at most.
 */
export class LargeTurns {
  readonly #last = new Map<string, number>();
  #turn = 0;

  /** The large log to commit now, if any: that of the tenant served longest ago. */
  next(logs: readonly OwnedLog[]): OwnedLog | undefined {
    let next: OwnedLog | undefined;
    let oldest = Number.POSITIVE_INFINITY;
    for (const log of logs) {
      if (!isLarge(log)) continue;
      const turn = this.#last.get(log.tenant) ?? 0;
      if (turn >= oldest) continue;
      next = log;
      oldest = turn;
    }
    if (next === undefined) return undefined;
    if (this.#last.size > mostTenants) this.#last.clear();
    this.#last.set(next.tenant, ++this.#turn);
    return next;
  }
}
