import type { Names } from "./names.ts";
import { type Tail, tailOf } from "./standing.ts";
import type { Store } from "./store.ts";
import type { Stored } from "./stored.ts";

/** Last messages of runs: cached for this process's own writes, otherwise read from the stream's leader. */
export class Tails {
  readonly #store: Store;
  readonly #names: Names;
  readonly #own = new Map<string, Tail>();

  constructor(store: Store, names: Names) {
    this.#store = store;
    this.#names = names;
  }

  /** The tail of a run this process owns. */
  get(run: string): Tail | undefined {
    return this.#own.get(run);
  }

  set(run: string, tail: Tail): void {
    if ((this.#own.get(run)?.epoch ?? 0) <= tail.epoch) this.#own.set(run, tail);
  }

  /** Ownership with this epoch or an earlier one has ended. */
  delete(run: string, epoch: number): void {
    if ((this.#own.get(run)?.epoch ?? Number.POSITIVE_INFINITY) <= epoch) this.#own.delete(run);
  }

  async read(op: string, run: string): Promise<Tail | undefined> {
    const stored = await this.last(op, run);
    return stored && tailOf(stored);
  }

  last(op: string, run: string): Promise<Stored | undefined> {
    return this.#store.last(op, this.#names.streamOf(run), this.#names.run(run, "*"));
  }
}
