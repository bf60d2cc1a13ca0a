import type { EventBody, RunEvent } from "../run/events.ts";
import type { Ownership, Signal } from "./journal.ts";

/**
 * Signals of one run, each once, in order. Those after `after` that were present at the claim are delivered before `subscribe`
 * returns, so that a run cancelled in the queue never starts.
 */
export interface SignalFeed {
  subscribe(after: number, callback: (signal: Signal) => void): () => void;
}

/** The write side of a run. Assigns `seq`, `run` and `at`. A log belongs to one owner and ends with its ownership. */
export interface RunLog {
  readonly ownership: Ownership;
  /** The seq of the last event written, committed or not. */
  readonly head: number;
  /** Aborts when the owner is fenced or the journal gave up. */
  readonly signal: AbortSignal;
  /** Backpressure: set while the run's uncommitted events exceed the high-water mark. Await it before writing more. */
  readonly pressure: Promise<void> | undefined;
  /** Joins the next group commit. Takes ownership of the object: pass a fresh one. A no-op once ownership has ended. */
  write(event: EventBody): RunEvent;
  /** Resolves when everything written so far is durable; rejects when the owner is fenced. */
  flush(): Promise<void>;
  /** Writes and waits for durability: for events that are acted upon. */
  step(event: EventBody): Promise<RunEvent>;
  /**
   * Parks the run until a signal beyond `seenSignals` arrives or `wakeAfter` ms have passed. This ends the ownership; the run
   * is claimed again later.
   */
  park(seenSignals: number, wakeAfter?: number): Promise<void>;
}

/** A log over another: whatever it does not change is the other's. */
export class WrappedLog implements RunLog {
  protected readonly log: RunLog;

  constructor(log: RunLog) {
    this.log = log;
  }

  get ownership(): Ownership {
    return this.log.ownership;
  }

  get signal(): AbortSignal {
    return this.log.signal;
  }

  get head(): number {
    return this.log.head;
  }

  get pressure(): Promise<void> | undefined {
    return this.log.pressure;
  }

  write(body: EventBody): RunEvent {
    return this.log.write(body);
  }

  step(body: EventBody): Promise<RunEvent> {
    return this.log.step(body);
  }

  flush(): Promise<void> {
    return this.log.flush();
  }

  park(seenSignals: number, wakeAfter?: number): Promise<void> {
    return this.log.park(seenSignals, wakeAfter);
  }
}
