import type { Journal, Ownership } from "../core/journal.ts";

/**
 * What a worker holds in the journal but does not work on. A release that failed, or a claim whose answer was lost, would
 * otherwise stay under the worker's own heartbeat for ever.
 */
export class StrayLeases {
  readonly #journal: Journal;
  readonly #worker: string;
  readonly #isActive: (ownership: Ownership) => boolean;
  readonly #unreleased = new Set<Ownership>();
  /** Seen once without being worked on. The second time it is no answer still under way. */
  #suspects = new Set<string>();
  #looking = false;

  constructor(journal: Journal, worker: string, isActive: (ownership: Ownership) => boolean) {
    this.#journal = journal;
    this.#worker = worker;
    this.#isActive = isActive;
  }

  /** Gives a run back now, or as soon as the journal takes it. */
  async release(ownership: Ownership): Promise<void> {
    this.#unreleased.add(ownership);
    try {
      await this.#journal.release(ownership);
      this.#unreleased.delete(ownership);
    } catch {
      // kept, and tried again with every heartbeat
    }
  }

  /** After a heartbeat: the journal answers, so what went wrong before is put right. */
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
      // the next heartbeat tries again
    } finally {
      this.#looking = false;
    }
  }

  async settle(): Promise<void> {
    for (const ownership of [...this.#unreleased]) await this.release(ownership);
  }
}
