import { type EventType, RunEvent } from "../../src/core/run/events.ts";
import { wireNames } from "./wire-names.ts";

/** What the histories reached: a fault or situation that stays at 0 was never tried. */
export class Coverage {
  readonly counts = new Map<string, number>();
  #last: readonly { readonly type: string }[] = [{ type: "nothing" }];

  count(what: string, times = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + times);
  }

  /** What was stored together last, by any run: what the next fault meets. */
  stored(events: readonly RunEvent[]): void {
    if (events.length > 0) this.#last = events;
  }

  fault(fate: string, method: string): void {
    this.count(`${method} ${fate}`);
    for (const type of new Set(this.#last.map((event) => event.type))) this.count(pairOf(fate, type));
  }

  add(counts: Iterable<readonly [string, number]>): void {
    for (const [what, count] of counts) this.count(what, count);
  }

  /** What a long batch has to reach and this one did not: situations, and pairs of a fault and the event before it. */
  unreached(): { readonly situations: readonly string[]; readonly pairs: readonly string[]; readonly of: number } {
    const isMissing = (what: string) => !this.counts.has(what);
    const pairs = RunEvent.options.flatMap(({ shape: { type } }) => {
      const all = faults.map((fault) => pairOf(fault, type.value));
      return type.value in absent && all.every(isMissing) ? [] : all;
    });
    return { situations: wanted.filter(isMissing), pairs: pairs.filter(isMissing), of: pairs.length };
  }
}

const pairOf = (fault: string, event: string): string => `${fault} × ${event}`;

const faults = ["refused", "lost", "late", "twice", "crash"] as const;

/** Events that no history has, and why. */
export const absent: Readonly<Partial<Record<EventType, string>>> = {
  "tool.output": "no tool here tells anything before its result",
  "agent.changed": "no agent here hands its run over",
};

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
  ...wireNames.map((name) => `wire: ${name}`),
];
