/** What the histories reached: a fault or situation that stays at 0 was never tried. */
export class Coverage {
  readonly counts = new Map<string, number>();
  #last = "nothing";

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  /** The last event stored by any run: what the next fault meets. */
  event(type: string): void {
    this.#last = type;
  }

  fault(fate: string, method: string): void {
    this.count(`${method} ${fate}`);
    this.count(`${fate} × ${this.#last}`);
  }

  add(other: Coverage): void {
    for (const [what, count] of other.counts) this.counts.set(what, (this.counts.get(what) ?? 0) + count);
  }
}

/** Situations that a nightly run has to reach. */
export const wanted = [
  ...["takeover", "fenced append", "append repeated", "park", "hint lost", "crash", "drain", "cancel", "steer"],
  ...[
    "denied",
    "edited",
    "ignored",
    "fork",
    "removed",
    "uncertain question",
    "retracted",
    "reconnect",
    "started again by key",
    "start repeated after the removal",
  ],
  ...["append lost", "append late", "append twice", "append refused", "claim lost", "enqueue lost", "signal lost"],
] as const;
