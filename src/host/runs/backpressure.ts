import { type RunLog, WrappedLog } from "../../core/journal/run-log.ts";
import { PolledStream } from "../../core/ports/polled-stream.ts";
import type { EventBody, RunEvent } from "../../core/run/events.ts";
import { keepOne } from "../../core/values/keep-one.ts";

type Batch = readonly RunEvent[];

/** How far a run may be ahead of its pacing reader, in events and characters. */
const eventsAhead = 256;
const charactersAhead = 1024 * 1024;

/** Backpressure: slows a run down to the speed of one reader. The run checks before each read from its provider. */
export class BackpressureGate {
  /** The run is parked for approval, without an owner, while its reader is still connected. */
  parked = false;
  #events = 0;
  #characters = 0;
  #over = false;
  #taken = false;
  #waiting: (() => void) | undefined;

  /** Channel of the reader that paces the run. */
  reader: string | undefined;

  /** True for the first reader, which paces the run; others do not affect it. */
  take(channel?: string): boolean {
    const first = !this.#taken;
    this.#taken = true;
    if (first) this.reader = channel;
    return first;
  }

  wrote(event: RunEvent): void {
    this.#events += 1;
    this.#characters += charactersOf(event);
  }

  /** A promise to await when the reader is too far behind. */
  gate(): Promise<void> | undefined {
    if (this.#over || this.#near) return undefined;
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  get #near(): boolean {
    return this.#events < eventsAhead && this.#characters < charactersAhead;
  }

  consumed(events: number, characters: number): void {
    this.#events -= events;
    this.#characters -= characters;
    if (this.#near) this.#wake();
  }

  /** The reader is gone: nothing slows the run any more. */
  left(): void {
    this.#over = true;
    this.#wake();
  }

  #wake(): void {
    this.#waiting?.();
    this.#waiting = undefined;
  }
}

/** The run's side: the same log, counting what is written. A class, because V8 stores an object literal with getters as a hash table. */
export class PacedLog extends WrappedLog {
  readonly #pace: BackpressureGate;

  constructor(log: RunLog, pace: BackpressureGate) {
    super(log);
    this.#pace = pace;
    keepOne(this);
  }

  override write(body: EventBody): RunEvent {
    const event = this.log.write(body);
    this.#pace.wrote(event);
    return event;
  }

  override async step(body: EventBody): Promise<RunEvent> {
    const event = await this.log.step(body);
    this.#pace.wrote(event);
    return event;
  }

  override async park(seenSignals: number, wakeAfter?: number): Promise<void> {
    await this.log.park(seenSignals, wakeAfter);
    this.#pace.parked = true;
  }
}

/** The reader's side: a batch counts as consumed when the next one is requested. */
export class PacedStream extends PolledStream<Batch> {
  readonly #batches: PolledStream<Batch>;
  readonly #gate: BackpressureGate;
  readonly #left: () => void;
  /** Size of the batch last delivered. Counts only: keeping the batch would cost a write barrier per token. */
  #events = 0;
  #characters = 0;

  constructor(batches: PolledStream<Batch>, gate: BackpressureGate, left: () => void) {
    super();
    this.#batches = batches;
    this.#gate = gate;
    this.#left = left;
  }

  poll(): IteratorResult<Batch, undefined> | undefined {
    if (this.#events > 0) this.#gate.consumed(this.#events, this.#characters);
    this.#events = 0;
    this.#characters = 0;
    try {
      const step = this.#batches.poll();
      if (step === undefined) return undefined;
      if (step.done) this.#leave();
      else {
        this.#events = step.value.length;
        for (const event of step.value) this.#characters += charactersOf(event);
      }
      return step;
    } catch (thrown) {
      this.#leave();
      throw thrown;
    }
  }

  arrival(): Promise<void> {
    return this.#batches.arrival();
  }

  return(): Promise<IteratorResult<Batch, undefined>> {
    this.#leave();
    return this.#batches.return();
  }

  #leave(): void {
    this.#gate.left();
    this.#left();
  }
}

function charactersOf(event: RunEvent): number {
  if (event.type === "tool_call.delta") return event.arguments.length;
  return "text" in event ? event.text.length : 0;
}
