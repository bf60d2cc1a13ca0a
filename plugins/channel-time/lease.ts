import type { Clock, KeyValues } from "venturi/plugin";

const key = "lease";
/** Heartbeat interval of the holder, and the silence after which it counts as gone; ms. */
const beat = 2_000;
const gone = 10_000;

/**
 * Decides which replica delivers. The holder keeps rewriting the entry; a replica that sees no new version for a while, by its own
 * monotonic clock, takes it with compare-and-set. No wall clocks are compared.
 */
export class Lease {
  readonly #values: KeyValues;
  readonly #clock: Clock;
  readonly #space: string;
  #seen: { version: number; at: number } | undefined;
  #held: { version: number; at: number } | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(values: KeyValues, { clock, space }: { clock: Clock; space: string }) {
    this.#values = values;
    this.#clock = clock;
    this.#space = space;
  }

  /** Whether this replica still holds the lease, without asking. */
  get held(): boolean {
    return this.#held !== undefined && this.#clock.monotonic() - this.#held.at < gone - beat;
  }

  /** Takes or renews the lease when it is time. */
  async hold(): Promise<boolean> {
    const now = this.#clock.monotonic();
    if (now - this.#askedAt < beat) return this.held;
    this.#askedAt = now;
    const there = await this.#values.get(this.#space, key);
    const version = there?.version ?? 0;
    if (this.#held === undefined || this.#held.version !== version) {
      this.#held = undefined;
      if (this.#seen?.version !== version) this.#seen = { version, at: now };
      if (there !== undefined && now - this.#seen.at < gone) return false;
    }
    const taken = await this.#values.put(this.#space, { key, value: "held", version });
    this.#held = taken === undefined ? undefined : { version: taken, at: now };
    return this.#held !== undefined;
  }

  /** Gives it up, so that another replica need not wait. */
  async release(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) await this.#values.remove(this.#space, key, held.version);
  }
}
