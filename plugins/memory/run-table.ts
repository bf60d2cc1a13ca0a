import { keyMemory, tooManyRuns } from "venturi/internal";
import type { Cursor, Enqueue } from "venturi/plugin";
import { type StoredRun, storedRun } from "./run.ts";

/** Maximum keys of removed runs remembered: about 20 MB. */
const mostRemoved = 100_000;

/** The stored runs and their indexes. */
export class RunTable {
  /** In order of arrival. */
  readonly runs = new Map<string, StoredRun>();
  /** Unfinished runs. */
  readonly open = new Map<string, StoredRun>();
  readonly #keys = new Map<string, string>();
  /** Keys of removed runs, oldest first. */
  readonly #removed = new Map<string, { readonly run: string; readonly at: number }>();
  #order = 0;

  add(item: Enqueue, now: number): StoredRun {
    const stored = storedRun(item, ++this.#order, now);
    this.runs.set(item.run, stored);
    this.open.set(item.run, stored);
    if (item.key !== undefined) this.#keys.set(nameOf(item.tenant, item.key), item.run);
    return stored;
  }

  /** The run that has this key, or had it before it was removed. */
  byKey(tenant: string, key: string, now: number): string | undefined {
    const name = nameOf(tenant, key);
    const removed = this.#removed.get(name);
    return this.#keys.get(name) ?? (removed === undefined || isOver(removed, now) ? undefined : removed.run);
  }

  forget(stored: StoredRun, now: number): void {
    this.runs.delete(stored.run);
    if (stored.key === undefined) return;
    const name = nameOf(stored.tenant, stored.key);
    this.#keys.delete(name);
    this.#removed.delete(name);
    this.#removed.set(name, { run: stored.run, at: now });
    for (const [oldest, removed] of this.#removed) {
      if (this.#removed.size <= mostRemoved && !isOver(removed, now)) return;
      this.#removed.delete(oldest);
    }
  }

  /** Forgets the oldest ended run if there are more than `most`. */
  dropBeyond(most: number, now: number): StoredRun | undefined {
    if (this.runs.size - this.open.size <= most) return undefined;
    for (const oldest of this.runs.values()) {
      if (oldest.state !== "done") continue;
      this.forget(oldest, now);
      return oldest;
    }
    return undefined;
  }

  /** What each run has after its cursor; runs with nothing new are left out. */
  after<T>(cursors: readonly Cursor[], of: (stored: StoredRun) => readonly T[], limit?: number): Map<string, T[]> {
    const found = new Map<string, T[]>();
    for (const { run, after } of cursors) {
      const stored = this.runs.get(run);
      const all = stored === undefined ? [] : of(stored);
      if (all.length > after) found.set(run, all.slice(after, limit && after + limit));
    }
    return found;
  }

  isBusy(tenant: string, session: string | undefined): boolean {
    if (session === undefined) return false;
    for (const other of this.open.values()) if (other.session === session && other.tenant === tenant) return true;
    return false;
  }

  /** Throws when the caller has reached its limit of running and queued runs. */
  refuseTooMany({ tenant, request: { caller } }: Enqueue): void {
    if (caller?.concurrentRuns === undefined) return;
    let count = 0;
    for (const { tenant: owner, request, state } of this.open.values()) {
      if (state !== "waiting" && owner === tenant && request.caller?.id === caller.id) count += 1;
    }
    if (count >= caller.concurrentRuns) throw tooManyRuns(caller.concurrentRuns);
  }
}

const isOver = ({ at }: { readonly at: number }, now: number): boolean => now - at > keyMemory;

/** A tenant-scoped name. The length prefix keeps ("a", "b c") and ("a b", "c") apart. */
export const nameOf = (tenant: string, name: string): string => `${tenant.length} ${tenant} ${name}`;
