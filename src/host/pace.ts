import type { RunEvent } from "../core/events.ts";

/** Events a run may be ahead of the reader that paces it. */
const ahead = 256;

/** Holds a run back to the speed of one reader: the run asks before it reads on from its provider. */
export class Pace {
  #written = 0;
  #taken = 0;
  #over = false;
  #waiting: (() => void) | undefined;
  /** The furthest the run ever got ahead, in events. */
  highWater = 0;

  wrote(event: RunEvent): void {
    this.#written = event.seq;
    this.highWater = Math.max(this.highWater, this.#written - this.#taken);
  }

  /** Something to wait for, when the reader is too far behind. */
  gate(): Promise<void> | undefined {
    if (this.#over || this.#written - this.#taken < ahead) return undefined;
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  /** The reader's side: passes its batches on and counts them as taken when it comes back for the next. */
  async *follow(batches: AsyncIterable<readonly RunEvent[]>): AsyncIterable<readonly RunEvent[]> {
    try {
      for await (const batch of batches) {
        yield batch;
        this.#taken = batch.at(-1)?.seq ?? this.#taken;
        if (this.#written - this.#taken < ahead) this.#wake();
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
