import type { Engine } from "./engine.ts";
import { isReliable, isShort } from "./profile.ts";

/** Runs that wait to be claimed. Nobody waits longer than what came before explains, whoever else has how many. */
export class Queue {
  readonly #engine: Engine;
  /** When it came, and how many that came later were begun first, by run, oldest first. */
  readonly #waiting = new Map<string, { readonly since: number; overtaken: number }>();
  readonly #isWatched: boolean;

  constructor(engine: Engine) {
    this.#engine = engine;
    const { profile } = engine;
    // There a run may have to wait for another one, for somebody, or for a process that has its agent. With little memory a start that was
    // charged for is begun at once, and the queue waits until the largest run would fit.
    // A schedule that cancels its last run takes the place of that run at once, as often as it is due.
    const isOrdered = !profile.session && !profile.reloads && !isShort(profile) && profile.schedule !== "cancel";
    this.#isWatched = isReliable(profile) && profile.hintLost === 0 && isOrdered;
  }

  entered(run: string): void {
    if (this.#isWatched) this.#waiting.set(run, { since: this.#engine.world.now, overtaken: 0 });
  }

  begun(run: string): void {
    const { world, profile, coverage } = this.#engine;
    if (!this.#isWatched) return;
    const isNew = !this.#waiting.has(run);
    for (const [other, waiting] of this.#waiting) {
      if (other === run) break;
      // Runs that came in the same instant have no order, and one that ends in it frees its place before the queue is looked at.
      if (waiting.since === world.now) continue;
      waiting.overtaken += 1;
      coverage.count("overtaken in the queue");
      // Each place may be given once to what comes at that moment, before the queue is looked at again.
      if (waiting.overtaken > profile.workers * profile.activeRuns)
        world.violated(
          `${other} waits in the queue while ${waiting.overtaken} younger ones were begun, ${run} the last`,
        );
    }
    if (!isNew) coverage.count("begun from the queue");
    this.#waiting.delete(run);
  }
}
