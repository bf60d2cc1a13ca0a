import type { Clock } from "../../core/ports/clock.ts";
import type { Culprit, PastStall } from "../../core/ports/stalls.ts";

interface Stretch {
  readonly culprit: Culprit;
  readonly from: number;
  /** Infinity while it runs. */
  to: number;
  /** Nothing else ran in that time. */
  readonly isAlone: boolean;
}

/** How long entries are kept, ms: samples and garbage collection entries arrive late. */
const remembered = 5_000;
/** Minimum share of a stall for which the code that ran alone is blamed. */
const leastShare = 0.25;

/** When plugin code ran in this process, for the recent past. */
export class PluginTimes {
  #stretches: Stretch[] = [];
  /** Entries to add until old ones are dropped. */
  #due = 64;

  /** Records plugin code that ran without yielding until now. */
  ran(culprit: Culprit, now: number, ms: number): void {
    this.#add({ culprit, from: now - ms, to: now, isAlone: true }, now);
  }

  /** Records plugin code in progress; call the returned function when it ends. */
  begin(culprit: Culprit, clock: Pick<Clock, "monotonic">): () => void {
    const from = clock.monotonic();
    const stretch = { culprit, from, to: Number.POSITIVE_INFINITY, isAlone: false };
    this.#add(stretch, from);
    return () => {
      stretch.to = clock.monotonic();
    };
  }

  /** Who ran alone for most of this time; otherwise the only one in progress, which is a guess. */
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
    // Not at every call, so that a call costs the same however many entries there are.
    this.#due -= 1;
    if (this.#due <= 0) {
      this.#stretches = this.#stretches.filter(({ to }) => to > now - remembered);
      this.#due = Math.max(64, this.#stretches.length);
    }
    this.#stretches.push(stretch);
  }
}
