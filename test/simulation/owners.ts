export interface Ownings {
  readonly run: string;
  readonly epoch: number;
  readonly worker: string;
  readonly head: number;
  readonly at: number;
}

/** Who has owned each run, oldest first. */
export class Owners {
  readonly #byRun = new Map<string, Ownings[]>();

  add(ownings: Ownings): void {
    const known = this.#byRun.get(ownings.run);
    if (known === undefined) this.#byRun.set(ownings.run, [ownings]);
    else known.push(ownings);
  }

  get runs(): Iterable<string> {
    return this.#byRun.keys();
  }

  of(run: string): Ownings | undefined {
    return this.#byRun.get(run)?.at(-1);
  }

  /** The first time that this process has executed it, if ever. */
  firstBy(worker: string, run: string): Ownings | undefined {
    return this.#byRun.get(run)?.find((each) => each.worker === worker);
  }

  /** Whether this was claimed after that epoch; `before`: by an owner who knew only events before this one. */
  isLater(run: string, epoch: number, before = Number.POSITIVE_INFINITY): boolean {
    return this.#byRun.get(run)?.some((each) => each.epoch > epoch && each.head < before) === true;
  }
}
