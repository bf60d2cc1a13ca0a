import { isStep, isTerminal, type RunEvent } from "../../core/run/events.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import { valueSize } from "../../core/values/value-size.ts";

/** Bytes of steps kept, shared by all runs. */
export class StepMemory {
  readonly #most: number;
  #kept = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** False when there is no room. */
  take(bytes: number): boolean {
    if (this.#kept + bytes > this.#most) return false;
    this.#kept += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#kept -= bytes;
  }
}

/** Events of a live run without stream deltas, as far as there is room. */
export class Steps {
  readonly #memory: StepMemory;
  readonly #epoch: number;
  #events: RunEvent[] | undefined = [];
  #bytes = 0;

  constructor(memory: StepMemory, epoch: number, history: readonly RunEvent[]) {
    this.#memory = memory;
    this.#epoch = epoch;
    for (const event of history) if (isStep(event)) this.add(event);
  }

  add(event: RunEvent): void {
    if (this.#events === undefined) return;
    const bytes = valueSize(event);
    if (!this.#memory.take(bytes)) return this.drop();
    this.#bytes += bytes;
    this.#events.push(event);
  }

  /** Undefined unless they are the stored ones: some were dropped, or another process took the run over and these were fenced off. */
  of({ head, epoch }: Pick<RunRow, "head" | "epoch">): readonly RunEvent[] | undefined {
    const last = this.#events?.at(-1);
    return epoch === this.#epoch && last?.seq === head && isTerminal(last) ? this.#events : undefined;
  }

  drop(): void {
    this.#events = undefined;
    this.#memory.release(this.#bytes);
    this.#bytes = 0;
  }
}
