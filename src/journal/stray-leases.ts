import type { Journal, Ownership } from "../core/journal/journal.ts";

/**
 * Leases this worker holds in the journal without working on the run. After a failed release, or a claim whose response was
 * lost, the worker's own heartbeat would otherwise renew them for ever.
 */
export class StrayLeases {
  readonly #journal: Journal;
  readonly #worker: string;
  readonly #isActive: (ownership: Ownership) => boolean;
  readonly #unreleased = new Set<Ownership>();
  /** Found idle once. The second time it cannot be a response still in flight. */
  #suspects = new Set<string>();
  #looking = false;

  constructor(journal: Journal, worker: string, isActive: (ownership: Ownership) => boolean) {
    this.#journal = journal;
    this.#worker = worker;
    this.#isActive = isActive;
  }

  /** Releases a run now, or as soon as the journal is available. */
  async release(ownership: Ownership): Promise<void> {
    this.#unreleased.add(ownership);
    try {
      await this.#journal.release(ownership);
      this.#unreleased.delete(ownership);
    } catch {
      // kept, and retried with every heartbeat
    }
  }

  /** After a heartbeat the journal is known to be up, so earlier failures can be repaired. */
  async reconcile(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      const suspects = new Set<string>();
      for (const ownership of await this.#journal.held(this.#worker)) {
        if (this.#isActive(ownership)) continue;
        const key = `${ownership.run} ${ownership.epoch}`;
        if (this.#suspects.has(key)) await this.#journal.release(ownership);
        else suspects.add(key);
      }
      this.#suspects = suspects;
    } catch {
      // retried at the next heartbeat
    } finally {
      this.#looking = false;
    }
  }

  async settle(): Promise<void> {
    for (const ownership of [...this.#unreleased]) await this.release(ownership);
  }
}
