import type { KeyValue, KeyValues } from "../../core/journal/key-values.ts";

const space = "shadows";
const prefix = "due/";
/** How long a process holds a run to shadow, ms; longer than any stall, and renewed while it works. */
export const lease = 30_000;

/** A live run to be repeated on another model. Written before the run's next event, so that no crash loses it. */
export interface DueRun {
  readonly run: string;
  /** Entry of `models` with the shadow setting. */
  readonly model: string;
  /** When it was chosen, ms since the epoch. */
  readonly at: number;
  /** Another process works on it until this time. */
  readonly until?: number;
  readonly attempts?: number;
}

export interface StoredDue {
  readonly due: DueRun;
  readonly version: number;
}

/** The queue of runs to shadow, in the journal: every replica sees it, and each run is taken by one at a time. */
export class DueRuns {
  readonly #values: KeyValues;

  constructor(values: KeyValues) {
    this.#values = values;
  }

  /** Idempotent: a run may continue here after it was parked or began elsewhere. Whoever chose it first holds its lease. */
  async choose(due: DueRun): Promise<StoredDue | undefined> {
    return await this.keep({ due: { ...due, attempts: 1 }, version: 0 }, due.at + lease);
  }

  async page(after: string | undefined): Promise<DueRun[]> {
    const found = await this.#values.list(space, { prefix, ...(after === undefined ? {} : { after: prefix + after }) });
    return found.map((entry) => dueIn(entry).due);
  }

  /** Undefined when there is nothing to do or another process does it. */
  async take(run: string, now: number): Promise<StoredDue | undefined> {
    const found = await this.#values.get(space, prefix + run);
    if (found === undefined || (dueIn(found).due.until ?? 0) > now) return undefined;
    const { due, version } = dueIn(found);
    return await this.keep({ due: { ...due, attempts: (due.attempts ?? 0) + 1 }, version }, now + lease);
  }

  /** Renews the lease; undefined when another process has it now. */
  async keep({ due, version }: StoredDue, until: number): Promise<StoredDue | undefined> {
    const next = { ...due, until };
    const stored = await this.#values.put(space, { key: prefix + due.run, value: JSON.stringify(next), version });
    return stored === undefined ? undefined : { due: next, version: stored };
  }

  async done({ due, version }: StoredDue): Promise<void> {
    await this.#values.remove(space, prefix + due.run, version);
  }
}

const dueIn = ({ value, version }: KeyValue): StoredDue => ({ due: JSON.parse(value) as DueRun, version }); // Written above.
