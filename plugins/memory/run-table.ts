import { keyMemory } from "venturi/internal";
import type { Enqueue } from "venturi/plugin";
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

const isOver = ({ at }: { readonly at: number }, now: number): boolean => now - at > keyMemory;

/** A tenant-scoped name. The length prefix keeps ("a", "b c") and ("a b", "c") apart. */
export const nameOf = (tenant: string, name: string): string => `${tenant.length} ${tenant} ${name}`;
