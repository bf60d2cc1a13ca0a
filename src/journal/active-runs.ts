import type { Ownership } from "../core/journal/journal.ts";
import { fencedOff } from "./committer.ts";

type Lease = Pick<Ownership, "run" | "epoch">;

interface Active {
  readonly epoch: number;
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

/** The runs that execute in this process, each under the newest of its leases: two executions of one run would both ask its model. */
export class ActiveRuns {
  readonly #runs = new Map<string, Active>();
  readonly #most: number;
  /** Places of runs whose claims are on their way. */
  #reserved = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Number of free places. */
  get room(): number {
    return Math.max(0, this.#most - this.#runs.size - this.#reserved);
  }

  /** Keeps places for runs that are being claimed: several claims on their way would otherwise be given the same ones. */
  reserve(places: number): () => void {
    this.#reserved += places;
    let isHeld = true;
    return () => {
      if (isHeld) this.#reserved -= places;
      isHeld = false;
    };
  }

  get size(): number {
    return this.#runs.size;
  }

  /** The lease's epoch is the one the run executes under. */
  has({ run, epoch }: Lease): boolean {
    return this.#runs.get(run)?.epoch === epoch;
  }

  /** The run executes under this lease or a newer one. */
  isCovered({ run, epoch }: Lease): boolean {
    return (this.#runs.get(run)?.epoch ?? 0) >= epoch;
  }

  /** Aborts an execution under an older lease. `ended` is called unless a newer one has replaced this one. */
  begin(lease: Lease, work: (controller: AbortController) => Promise<void>, ended: () => void): void {
    const { run, epoch } = lease;
    const older = this.#runs.get(run);
    older?.controller.abort(fencedOff({ run, epoch: older.epoch }));
    const controller = new AbortController();
    const own = work(controller).finally(() => {
      if (!this.has(lease)) return;
      this.#runs.delete(run);
      ended();
    });
    this.#runs.set(run, { epoch, controller, done: older === undefined ? own : older.done.then(() => own) });
  }

  /** Aborts all, and resolves when they have ended. */
  async stop(reason: unknown): Promise<void> {
    const under = [...this.#runs.values()];
    for (const { controller } of under) controller.abort(reason);
    await Promise.all(under.map(({ done }) => done));
  }
}
