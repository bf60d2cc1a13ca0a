import type { Claim, ClaimFilter, Clock, Ownership, WorkerRow } from "venturi/plugin";
import { workerRows } from "./backlog.ts";
import { claimFor, isCancelled, ownershipOf, passes, type StoredRun } from "./run.ts";
import { nameOf, type RunTable } from "./run-table.ts";

/** Tracks which worker holds which run, and expired leases. */
export class Claims {
  readonly #table: RunTable;
  readonly #clock: Clock;
  readonly #lease: number;
  /** When each worker last sent a heartbeat. */
  readonly #seen = new Map<string, number>();

  constructor(table: RunTable, clock: Clock, lease: number) {
    this.#table = table;
    this.#clock = clock;
    this.#lease = lease;
  }

  claim(worker: string, limit: number, filter: ClaimFilter): Claim[] {
    this.beat(worker);
    const claims: Claim[] = [];
    const sessions = new Set<string>();
    for (const stored of this.#table.open.values()) {
      if (claims.length >= limit) break;
      const session = stored.session === undefined ? undefined : nameOf(stored.tenant, stored.session);
      const first = session === undefined || !sessions.has(session);
      if (session !== undefined) sessions.add(session);
      const wanted = isCancelled(stored) || (first && passes(stored, filter));
      if (wanted && this.#isFree(stored)) claims.push(claimFor(stored, worker, this.#clock.now()));
    }
    return claims;
  }

  beat(worker: string): void {
    this.#seen.set(worker, this.#clock.now());
  }

  held(worker: string): Ownership[] {
    const running = [...this.#table.open.values()].filter((run) => run.state === "running" && run.worker === worker);
    return running.map((stored) => ownershipOf(stored, worker));
  }

  workers(): WorkerRow[] {
    return workerRows(this.#seen, this.#table.open.values(), this.#clock.now());
  }

  #isFree(stored: StoredRun): boolean {
    if (stored.state === "ready") return true;
    if (stored.state === "waiting") return stored.wakeAt !== undefined && stored.wakeAt <= this.#clock.now();
    if (stored.state !== "running") return false;
    return this.#isSilentSince(stored.updatedAt) && this.#isSilentSince(this.#seen.get(stored.worker ?? ""));
  }

  /** After a clock was set back, times in the future count as expired; otherwise such leases would last forever. */
  #isSilentSince(time: number | undefined): boolean {
    return time === undefined || Math.abs(this.#clock.now() - time) > this.#lease;
  }
}
