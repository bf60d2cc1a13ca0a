import type { RunEvent } from "../../core/events.ts";
import { PolledStream } from "../../core/polled-stream.ts";
import type { RunLog } from "../../core/run-log.ts";

type Batch = readonly RunEvent[];

/** How far a run may be ahead of its pacing reader, in events and characters. */
const eventsAhead = 256;
const charactersAhead = 1024 * 1024;

/** Backpressure: slows a run down to the speed of one reader. The run checks before each read from its provider. */
export class BackpressureGate {
  /** The run is parked for approval, without an owner; its reader is still connected. */
  parked = false;
  #events = 0;
  #characters = 0;
  #over = false;
  #taken = false;
  #waiting: (() => void) | undefined;

  /** True for the first reader, which paces the run; others do not affect it. */
  take(): boolean {
    const first = !this.#taken;
    this.#taken = true;
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

  consumed(batch: Batch): void {
    this.#events -= batch.length;
    for (const event of batch) this.#characters -= charactersOf(event);
    if (this.#near) this.#wake();
  }

  /** The reader is gone: nothing holds the run back any more. */
  left(): void {
    this.#over = true;
    this.#wake();
  }

  #wake(): void {
    this.#waiting?.();
    this.#waiting = undefined;
  }
}

/** The run's side: the same log, counting what is written. */
export function pacedLog(log: RunLog, pace: BackpressureGate): RunLog {
  const counted = (event: RunEvent) => {
    pace.wrote(event);
    return event;
  };
  return {
    ownership: log.ownership,
    signal: log.signal,
    get head() {
      return log.head;
    },
    get pressure() {
      return log.pressure;
    },
    write: (body) => counted(log.write(body)),
    step: async (body) => counted(await log.step(body)),
    flush: () => log.flush(),
    park: async (seen, wakeAfter) => {
      await log.park(seen, wakeAfter);
      pace.parked = true;
    },
  };
}

/** The reader's side: counts each batch as consumed when the next is requested. */
export class PacedStream extends PolledStream<Batch> {
  readonly #batches: PolledStream<Batch>;
  readonly #gate: BackpressureGate;
  readonly #left: () => void;
  #given: Batch | undefined;

  constructor(batches: PolledStream<Batch>, gate: BackpressureGate, left: () => void) {
    super();
    this.#batches = batches;
    this.#gate = gate;
    this.#left = left;
  }

  poll(): IteratorResult<Batch, undefined> | undefined {
    if (this.#given !== undefined) this.#gate.consumed(this.#given);
    this.#given = undefined;
    try {
      const step = this.#batches.poll();
      if (step?.done) this.#leave();
      else this.#given = step?.value;
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
