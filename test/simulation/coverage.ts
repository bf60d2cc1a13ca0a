import { RunEvent } from "../../src/core/run/events.ts";

/** What the histories reached: a fault or situation that stays at 0 was never tried. */
export class Coverage {
  readonly counts = new Map<string, number>();
  #last = "nothing";

  count(what: string, times = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + times);
  }

  /** The last event stored by any run: what the next fault meets. */
  event(type: string): void {
    this.#last = type;
  }

  fault(fate: string, method: string): void {
    this.count(`${method} ${fate}`);
    this.count(pairOf(fate, this.#last));
  }

  add(counts: Iterable<readonly [string, number]>): void {
    for (const [what, count] of counts) this.count(what, count);
  }

  /** What a long batch has to reach and this one did not: situations, and pairs of a fault and the event before it. */
  unreached(): { readonly situations: readonly string[]; readonly pairs: readonly string[]; readonly of: number } {
    const pairs = RunEvent.options.flatMap(({ shape }) => faults.map((fault) => pairOf(fault, shape.type.value)));
    const isMissing = (what: string) => !this.counts.has(what);
    return { situations: wanted.filter(isMissing), pairs: pairs.filter(isMissing), of: pairs.length };
  }
}

const pairOf = (fault: string, event: string): string => `${fault} × ${event}`;

const faults = ["refused", "lost", "late", "twice", "crash"] as const;

/** Situations that a nightly run has to reach. */
const wanted = [
  ...["takeover", "fenced append", "append repeated", "park", "hint lost", "crash", "drain", "cancel", "steer"],
  ...[
    "denied",
    "edited",
    "ignored",
    "fork",
    "removed",
    "uncertain question",
    "question answered",
    "question declined",
    "retracted",
    "reconnect",
  ],
  ...["tools found", "why: refused", "skill changed under a run"],
  ...["started again by key", "start repeated after the removal"],
  ...["append lost", "append late", "append twice", "append refused", "claim lost", "enqueue lost", "signal lost"],
] as const;
