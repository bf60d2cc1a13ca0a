import type { Clock } from "../../core/ports/clock.ts";
import type { Culprit, PastStall } from "../../core/ports/stalls.ts";

interface Stretch {
  readonly culprit: Culprit;
  readonly from: number;
  /** Infinite while it goes on. */
  to: number;
  /** Nothing else executed meanwhile. */
  readonly isAlone: boolean;
}

/** Long enough for a sample and a collection's entry, which come late, ms. */
const remembered = 5_000;
/** Of a stall, for the code that ran alone to have caused it. */
const leastShare = 0.25;

/** When plugins' code ran in this process, as far back as somebody may ask. */
export class PluginTimes {
  #stretches: Stretch[] = [];
  /** Additions until the old ones are dropped. */
  #due = 64;

  /** Ran without yielding, until now. */
  ran(culprit: Culprit, now: number, ms: number): void {
    this.#add({ culprit, from: now - ms, to: now, isAlone: true }, now);
  }

  /** Is under way until the returned function is called. */
  begin(culprit: Culprit, clock: Pick<Clock, "monotonic">): () => void {
    const from = clock.monotonic();
    const stretch = { culprit, from, to: Number.POSITIVE_INFINITY, isAlone: false };
    this.#add(stretch, from);
    return () => {
      stretch.to = clock.monotonic();
    };
  }

  /** Who ran alone for most of this time; else the only one that was under way, which is a guess. */
  culprit(from: number, to: number): Pick<PastStall, "culprit" | "isGuess"> {
    const overlap = (stretch: Stretch) => Math.min(stretch.to, to) - Math.max(stretch.from, from);
    const share = (stretch: Stretch) => overlap(stretch) / Math.max(1, to - from);
    const [most] = this.#stretches
      .filter((stretch) => stretch.isAlone && share(stretch) >= leastShare)
      .sort((left, right) => overlap(right) - overlap(left));
    if (most !== undefined) return { culprit: most.culprit, isGuess: false };
    const [only, ...others] = this.#stretches.filter((stretch) => !stretch.isAlone && share(stretch) >= leastShare);
    return { culprit: others.length === 0 ? only?.culprit : undefined, isGuess: true };
  }

  #add(stretch: Stretch, now: number): void {
    // Not at every call, so that one costs the same however many are under way.
    this.#due -= 1;
    if (this.#due <= 0) {
      this.#stretches = this.#stretches.filter(({ to }) => to > now - remembered);
      this.#due = Math.max(64, this.#stretches.length);
    }
    this.#stretches.push(stretch);
  }
}
