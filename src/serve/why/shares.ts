/** Activity that a span of a run's time is charged to. */
export type Part =
  | "queue"
  | "providerWait"
  | "providerStream"
  | "providerStall"
  | "failedAttempt"
  | "backoff"
  | "tool"
  | "approval"
  | "down"
  | "client"
  | "journal"
  | "blocked"
  | "runtime";

export interface Share {
  readonly part: Part;
  /** Name of the model, tool or question; "" where there is none. */
  readonly name: string;
  ms: number;
  count: number;
}

/** A run's time by activity. */
export class Shares {
  readonly #shares = new Map<string, Share>();

  add(part: Part, name: string, ms: number): void {
    if (ms <= 0) return;
    const key = `${part} ${name}`;
    const share = this.#shares.get(key) ?? { part, name, ms: 0, count: 0 };
    share.ms += ms;
    share.count += 1;
    this.#shares.set(key, share);
  }

  /** Reassigns up to `ms` from the given parts, in this order, when a more precise source is available. */
  move(from: readonly Part[], to: { readonly part: Part; readonly name: string }, ms: number): void {
    let left = ms;
    for (const part of from) {
      for (const share of this.#shares.values()) {
        if (share.part !== part) continue;
        const moved = Math.min(left, share.ms);
        share.ms -= moved;
        left -= moved;
      }
    }
    this.add(to.part, to.name, ms - left);
  }

  get total(): number {
    return this.all.reduce((sum, share) => sum + share.ms, 0);
  }

  of(part: Part): number {
    return this.all.reduce((sum, share) => sum + (share.part === part ? share.ms : 0), 0);
  }

  /** Largest first. */
  get all(): Share[] {
    return [...this.#shares.values()].filter(({ ms }) => ms > 0).sort((left, right) => right.ms - left.ms);
  }
}
