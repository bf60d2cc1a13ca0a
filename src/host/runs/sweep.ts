import { messageOf } from "../../core/errors/errors.ts";
import type { Journal } from "../../core/journal/journal.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import { pruneRuns } from "../../journal/notes.ts";
import { pruneRest } from "./retention.ts";

/** Not during startup, ms. */
const soon = 1_000;
/** Longer than the hour for which journals keep unreferenced blobs, ms. */
const sweepAfter = 65 * 60_000;

/** Schedules prunes that finish removals: content that no run uses any more, which journals keep for an hour, and what a killed process left. */
export class Sweep {
  readonly #deps: { readonly journal: Journal; readonly clock: Clock; readonly log: Log };
  readonly #stopping = new AbortController();
  #cancel: (() => void) | undefined;
  #sweeping: Promise<void> = Promise.resolve();
  /** When everything removed so far can be swept. */
  #until = Number.NEGATIVE_INFINITY;

  constructor(deps: { readonly journal: Journal; readonly clock: Clock; readonly log: Log }) {
    this.#deps = deps;
  }

  /** For what an earlier process removed: its own sweep ended with it. */
  begin(): void {
    const now = this.#deps.clock.monotonic();
    this.#until = now + sweepAfter;
    this.#plan(now, now + soon);
  }

  /** For what was removed now. */
  later(): void {
    const now = this.#deps.clock.monotonic();
    this.#until = now + sweepAfter;
    if (this.#cancel === undefined) this.#plan(now, this.#until);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#cancel?.();
    await this.#sweeping;
  }

  #plan(now: number, at: number): void {
    if (this.#stopping.signal.aborted) return; // A run's removal may end after it: no timer may keep the process then.
    this.#cancel = this.#deps.clock.after(at - now, () => {
      this.#cancel = undefined;
      this.#sweeping = this.#sweep(at);
    });
  }

  async #sweep(at: number): Promise<void> {
    const { clock, journal, log } = this.#deps;
    const { signal } = this.#stopping;
    await pruneRuns(journal, { rest: pruneRest, signal }, clock).catch((thrown: unknown) =>
      log.warn("content of removed runs could not be swept", { error: messageOf(thrown) }),
    );
    // Runs were removed while this one was planned: their content may have been too young.
    if (this.#cancel === undefined && this.#until > at) this.#plan(clock.monotonic(), this.#until);
  }
}
