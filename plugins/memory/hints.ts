import type { Hint } from "venturi/plugin";

type Listener = (hint: Hint) => void;

/** Listeners for changes, in this process only. */
export class Hints {
  /** Number of listeners interested in events. */
  readers = 0;
  readonly #listeners = new Map<Listener, "control" | undefined>();

  add(listener: Listener, only: "control" | undefined): () => void {
    this.#listeners.set(listener, only);
    if (only === undefined) this.readers += 1;
    return () => {
      if (this.#listeners.delete(listener) && only === undefined) this.readers -= 1;
    };
  }

  send(hint: Hint): void {
    const control = hint.work || hint.signals !== undefined;
    for (const [listener, only] of this.#listeners) if (control || only === undefined) listener(hint);
  }

  clear(): void {
    this.#listeners.clear();
  }
}
