import type { Claim } from "../../core/journal/journal.ts";
import { type RunLog, WrappedLog } from "../../core/journal/run-log.ts";
import { type EventBody, isStep, type RunEvent } from "../../core/run/events.ts";

/** Callbacks must not throw or block: the run waits for them. */
export interface RunWatcher {
  /** Called before the run's next event. Returns a callback for its further steps, if it wants them. */
  began(claim: Claim, history: readonly RunEvent[]): ((step: RunEvent) => void) | undefined;
  /** The run ended, was parked or given up here. */
  left(run: string): void;
}

/** A log that shows its steps as they are written; they may not be durable yet. */
export class WatchedLog extends WrappedLog {
  readonly #saw: (step: RunEvent) => void;

  constructor(log: RunLog, saw: (step: RunEvent) => void) {
    super(log);
    this.#saw = saw;
  }

  override write(body: EventBody): RunEvent {
    const event = this.log.write(body);
    if (isStep(event)) this.#saw(event);
    return event;
  }

  override async step(body: EventBody): Promise<RunEvent> {
    const event = this.write(body);
    await this.log.flush();
    return event;
  }
}
