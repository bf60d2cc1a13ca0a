import { VenturiError } from "../core/errors/errors.ts";
import { keepOne } from "../core/values/keep-one.ts";
import type { RunContext } from "./run/run-context.ts";

/**
 * Hands a run that only waits for people over to the journal. A parked run holds no slot, lease or memory; its next owner continues from
 * its events.
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

  /** Counts the signals handled here, so that the journal notices one that arrives after the decision to park. */
  seen(number: number): void {
    if (this.#parked) return;
    this.#seenSignals = Math.max(this.#seenSignals, number);
  }

  /** Delayed, so that a quick answer finds the run still in memory. */
  onlyAsking(only: boolean): void {
    const { parkAfter, clock } = this.#run.deps;
    if (parkAfter === undefined) return;
    if (!only) return this.stop();
    this.#stopTimer ??= clock.after(parkAfter, () => this.park());
  }

  stop(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  /** Stops work on the run here; `leave` then parks it. Returns false if it may not be parked now. */
  park(): boolean {
    this.stop();
    if (this.#run.signal.aborted || !this.#mayPark()) return false;
    this.#stopHere("the run is parked until a person answers");
    return true;
  }

  /** Parks the run between two rounds until somebody resumes it. */
  parkPaused(): void {
    this.stop();
    this.#stopHere("the run is paused");
  }

  #stopHere(reason: string): void {
    this.#parked = true;
    this.#run.abort(new VenturiError("agent.run", "unavailable", reason, { details: { parked: true } }));
    this.#run.fence();
  }

  /** `deadline`: when the first open question times out. */
  async leave(deadline: number | undefined): Promise<void> {
    const { clock, runLog, log } = this.#run.deps;
    // The run's time limit is paused while waiting for approval.
    const wakeAfter = deadline === undefined ? undefined : Math.max(0, deadline - clock.now());
    await runLog.park(this.#seenSignals, wakeAfter);
    log.info("run parked", { run: this.#run.run, agent: this.#run.agent.name, wakeAfter });
  }
}
