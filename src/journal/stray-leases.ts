import type { Attempt, Journal } from "../core/journal.ts";

/**
 * What a worker holds in the journal but does not work on. A release that failed, or a claim whose answer was lost, would
 * otherwise stay under the worker's own heartbeat for ever.
 */
export class Holdings {
  readonly #journal: Journal;
  readonly #worker: string;
  readonly #isActive: (attempt: Attempt) => boolean;
  readonly #unreleased = new Set<Attempt>();
  /** Seen once without being worked on. The second time it is no answer still under way. */
  #suspects = new Set<string>();
  #looking = false;

  constructor(journal: Journal, worker: string, isActive: (attempt: Attempt) => boolean) {
    this.#journal = journal;
    this.#worker = worker;
    this.#isActive = isActive;
  }

  /** Gives a run back now, or as soon as the journal takes it. */
  async release(attempt: Attempt): Promise<void> {
    this.#unreleased.add(attempt);
    try {
      await this.#journal.release(attempt);
      this.#unreleased.delete(attempt);
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
      for (const attempt of await this.#journal.held(this.#worker)) {
        if (this.#isActive(attempt)) continue;
        const key = `${attempt.run} ${attempt.epoch}`;
        if (this.#suspects.has(key)) await this.#journal.release(attempt);
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
    for (const attempt of [...this.#unreleased]) await this.release(attempt);
  }
}
