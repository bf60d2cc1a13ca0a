import type { Journal, Ownership } from "../core/journal/journal.ts";

/** Released leases remembered; a response is not in flight for longer than it takes to release this many. */
const most = 1_000;

/**
 * Leases this worker holds without working on the run: after a failed release, or a claim whose response was lost. Its own heartbeat would
 * renew them forever.
 */
export class StrayLeases {
  readonly #journal: Journal;
  readonly #worker: string;
  readonly #isActive: (ownership: Ownership) => boolean;
  readonly #unreleased = new Set<Ownership>();
  /** Runs found idle once. If idle the second time, it was not a response in flight. */
  #suspects = new Set<string>();
  /** Leases released as idle. The response that grants one may still arrive. */
  readonly #released = new Set<string>();
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
      // Kept, and retried with every heartbeat.
    }
  }

  /** Called after a heartbeat: the journal is up, so earlier failures can be repaired. */
  async reconcile(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      const suspects = new Set<string>();
      for (const ownership of await this.#journal.held(this.#worker)) {
        if (this.#isActive(ownership)) continue;
        const key = keyOf(ownership);
        if (this.#suspects.has(key)) await this.#letGo(ownership);
        else suspects.add(key);
      }
      this.#suspects = suspects;
    } catch {
      // Retried at the next heartbeat.
    } finally {
      this.#looking = false;
    }
  }

  /** Whether the lease was released as idle: a claim that arrives with it is void. */
  hasReleased(ownership: Ownership): boolean {
    return this.#released.has(keyOf(ownership));
  }

  async retryReleases(): Promise<void> {
    for (const ownership of [...this.#unreleased]) await this.release(ownership);
  }

  async #letGo(ownership: Ownership): Promise<void> {
    this.#released.add(keyOf(ownership));
    const [oldest] = this.#released;
    if (this.#released.size > most && oldest !== undefined) this.#released.delete(oldest);
    await this.#journal.release(ownership);
  }
}

const keyOf = ({ run, epoch }: Ownership): string => `${run} ${epoch}`;
