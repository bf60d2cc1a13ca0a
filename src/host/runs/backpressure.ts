import type { RunEvent } from "../../core/events.ts";

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

  /** The reader's side: passes batches on and counts each as consumed when the next is requested. */
  async *follow(batches: AsyncIterable<readonly RunEvent[]>): AsyncIterable<readonly RunEvent[]> {
    try {
      for await (const batch of batches) {
        yield batch;
        this.#events -= batch.length;
        for (const event of batch) this.#characters -= charactersOf(event);
        if (this.#near) this.#wake();
      }
    } finally {
      this.#over = true;
      this.#wake();
    }
  }

  #wake(): void {
    this.#waiting?.();
    this.#waiting = undefined;
  }
}

function charactersOf(event: RunEvent): number {
  if (event.type === "tool_call.delta") return event.arguments.length;
  return "text" in event ? event.text.length : 0;
}
