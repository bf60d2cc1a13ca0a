import { messageOf } from "../../core/errors/errors.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Death } from "../../journal/take-over.ts";
import type { Child } from "./child.ts";

interface AbandonedDeps {
  readonly log: Log;
  /** How long a process may take, ms. */
  readonly patience: number;
  ready(): readonly Child[];
  /** Calls it again later, unless the service stops before. */
  later(action: () => void): void;
}

/** Dead workers whose runs have not been freed yet. */
export class Abandoned {
  readonly #deps: AbandonedDeps;
  readonly #workers = new Map<string, Death | undefined>();
  #handingOver = false;

  constructor(deps: AbandonedDeps) {
    this.#deps = deps;
  }

  add(worker: string, death: Death | undefined): void {
    this.#workers.set(worker, death);
  }

  /** Lets a ready process free the runs of dead ones, so that nobody waits for a lease to expire. */
  async handOver(): Promise<void> {
    if (this.#handingOver) return;
    this.#handingOver = true;
    const { log, patience, ready, later } = this.#deps;
    try {
      for (const [worker, death] of [...this.#workers]) {
        for (const { link, pid } of ready()) {
          const done = await link
            .ask("takeOver", death === undefined ? { worker } : { worker, death }, patience)
            .catch((thrown: unknown) => {
              log.warn("a dead process's runs could not be freed", { by: pid, error: messageOf(thrown) });
              return undefined;
            });
          if (done === undefined) continue;
          this.#workers.delete(worker);
          if (done.runs > 0) log.info("a dead process's runs were freed", { worker, runs: done.runs, by: pid });
          break;
        }
      }
    } finally {
      this.#handingOver = false;
    }
    if (this.#workers.size > 0 && ready().length > 0) later(() => void this.handOver());
  }
}
