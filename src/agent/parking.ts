import { VenturiError } from "../core/errors.ts";
import { keepOne } from "../core/keep-one.ts";
import type { RunContext } from "./run-context.ts";

/**
 * Leaves a run that only waits for people to the journal: it then holds no place, no lease and no memory, and whoever takes it
 * up when an answer or its time comes goes on from its events.
 */
export class Parking {
  readonly #run: RunContext;
  readonly #mayPark: () => boolean;
  #seenSignals = 0;
  #stopTimer: (() => void) | undefined;
  #parked = false;

  constructor(run: RunContext, mayPark: () => boolean) {
    this.#run = run;
    this.#mayPark = mayPark;
    keepOne(this);
  }

  get parked(): boolean {
    return this.#parked;
  }

  /** One that comes after the decision to park is not acted upon here: the journal must find that there is one more. */
  seen(signal: number): void {
    if (this.#parked) return;
    this.#seenSignals = Math.max(this.#seenSignals, signal);
  }

  /** Not at once: an answer that comes right away should find the run where it is. */
  onlyAsking(only: boolean): void {
    const { parkAfter, clock } = this.#run.parts;
    if (parkAfter === undefined) return;
    if (!only) return this.stop();
    this.#stopTimer ??= clock.after(parkAfter, () => this.park());
  }

  stop(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  /** Ends the work on the run here; `leave` then gives it to the journal. */
  park(): void {
    this.stop();
    if (this.#run.signal.aborted || !this.#mayPark()) return;
    this.#parked = true;
    const reason = "the run is parked until a person answers";
    this.#run.abort(new VenturiError("agent.run", "unavailable", reason, { details: { parked: true } }));
    this.#run.fence();
  }

  /** `deadline`: the clock's time when the first of the questions is over. */
  async leave(deadline: number | undefined): Promise<void> {
    const { clock, log, logger } = this.#run.parts;
    // The run's own time does not pass while people are waited for.
    const wakeAfter = deadline === undefined ? undefined : Math.max(0, deadline - clock.now());
    await log.park(this.#seenSignals, wakeAfter);
    logger.info("run parked", { run: this.#run.run, agent: this.#run.agent.name, wakeAfter });
  }
}
