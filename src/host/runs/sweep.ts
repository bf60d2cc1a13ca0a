import { messageOf } from "../../core/errors/errors.ts";
import type { Journal } from "../../core/journal/journal.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import { pruneRuns } from "../../journal/notes.ts";
import { pruneRest } from "./retention.ts";

/** Longer than the hour for which journals keep unreferenced blobs, ms. */
const sweepAfter = 65 * 60_000;

/** Schedules a prune for blobs that no run uses any more, which journals keep for an hour. */
export class Sweep {
  readonly #deps: { readonly journal: Journal; readonly clock: Clock; readonly log: Log };
  #stop: (() => void) | undefined;

  constructor(deps: { readonly journal: Journal; readonly clock: Clock; readonly log: Log }) {
    this.#deps = deps;
  }

  later(): void {
    const { clock, journal, log } = this.#deps;
    this.#stop ??= clock.after(sweepAfter, () => {
      this.#stop = undefined;
      pruneRuns(journal, { rest: pruneRest }, clock).catch((thrown: unknown) =>
        log.warn("content of removed runs could not be swept", { error: messageOf(thrown) }),
      );
    });
  }

  stop(): void {
    this.#stop?.();
  }
}
