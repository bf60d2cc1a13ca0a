import type { Enqueue } from "venturi/plugin";
import { type StoredRun, storedRun } from "./run.ts";

/** The stored runs, and what they are found by. */
export class RunTable {
  /** In order of arrival. */
  readonly runs = new Map<string, StoredRun>();
  /** Unfinished runs. */
  readonly open = new Map<string, StoredRun>();
  readonly #keys = new Map<string, string>();
  #order = 0;

  add(item: Enqueue, now: number): StoredRun {
    const stored = storedRun(item, ++this.#order, now);
    this.runs.set(item.run, stored);
    this.open.set(item.run, stored);
    if (item.key !== undefined) this.#keys.set(nameOf(item.tenant, item.key), item.run);
    return stored;
  }

  byKey(tenant: string, key: string): string | undefined {
    return this.#keys.get(nameOf(tenant, key));
  }

  forget(stored: StoredRun): void {
    this.runs.delete(stored.run);
    if (stored.key !== undefined) this.#keys.delete(nameOf(stored.tenant, stored.key));
  }

  /** Forgets the oldest ended run if there are more than `most`. */
  dropBeyond(most: number): StoredRun | undefined {
    if (this.runs.size - this.open.size <= most) return undefined;
    for (const oldest of this.runs.values()) {
      if (oldest.state !== "done") continue;
      this.forget(oldest);
      return oldest;
    }
    return undefined;
  }

  isBusy(tenant: string, session: string | undefined): boolean {
    if (session === undefined) return false;
    for (const other of this.open.values()) if (other.session === session && other.tenant === tenant) return true;
    return false;
  }

  /** The caller's running and queued runs. */
  activeOf(tenant: string, caller: string): number {
    let count = 0;
    for (const { tenant: owner, request, state } of this.open.values()) {
      if (state !== "waiting" && owner === tenant && request.caller?.id === caller) count += 1;
    }
    return count;
  }
}

/** A tenant-scoped name. The length prefix keeps ("a", "b c") and ("a b", "c") apart. */
export const nameOf = (tenant: string, name: string): string => `${tenant.length} ${tenant} ${name}`;
