import type { RunEvent } from "../../core/events.ts";

/** How far a run may be ahead of the reader that paces it, in events and in characters. */
const eventsAhead = 256;
const charactersAhead = 1024 * 1024;

/** Holds a run back to the speed of one reader: the run asks before it reads on from its provider. */
export class BackpressureGate {
  /** The run waits for a person, worked on by nobody; its reader is still there. */
  parked = false;
  #events = 0;
  #characters = 0;
  #over = false;
  #taken = false;
  #waiting: (() => void) | undefined;

  /** True for the first reader, who paces the run; others leave it alone. */
  take(): boolean {
    const first = !this.#taken;
    this.#taken = true;
    return first;
  }

  wrote(event: RunEvent): void {
    this.#events += 1;
    this.#characters += charactersOf(event);
  }

  /** Something to wait for, when the reader is too far behind. */
  gate(): Promise<void> | undefined {
    if (this.#over || this.#near) return undefined;
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  get #near(): boolean {
    return this.#events < eventsAhead && this.#characters < charactersAhead;
  }

  /** The reader's side: passes its batches on and counts them as taken when it comes back for the next. */
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
