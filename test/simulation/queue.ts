import type { Engine } from "./engine.ts";
import { isReliable, isShort } from "./profile.ts";

/** Runs that wait to be claimed. Nobody waits longer than what came before explains, whoever else has how many. */
export class Queue {
  readonly #engine: Engine;
  /** How many that came later were begun first, by run, oldest first. */
  readonly #waiting = new Map<string, number>();
  readonly #isWatched: boolean;

  constructor(engine: Engine) {
    this.#engine = engine;
    const { profile } = engine;
    // There a run may have to wait for another one, for somebody, or for a process that has its agent. With little memory a start that was
    // charged for is begun at once, and the queue waits until the largest run would fit.
    const isOrdered = !profile.session && !profile.reloads && !isShort(profile);
    this.#isWatched = isReliable(profile) && profile.hintLost === 0 && isOrdered;
  }

  entered(run: string): void {
    if (this.#isWatched) this.#waiting.set(run, 0);
  }

  begun(run: string): void {
    const { world, profile, coverage } = this.#engine;
    if (!this.#isWatched) return;
    const isNew = !this.#waiting.has(run);
    for (const [other, overtaken] of this.#waiting) {
      if (other === run) break;
      this.#waiting.set(other, overtaken + 1);
      coverage.count("overtaken in the queue");
      // Each place may be given once to what comes at that moment, before the queue is looked at again.
      if (overtaken >= profile.workers * profile.activeRuns)
        world.violated(`${other} waits in the queue while ${overtaken + 1} younger ones were begun, ${run} the last`);
    }
    if (!isNew) coverage.count("begun from the queue");
    this.#waiting.delete(run);
  }
}
