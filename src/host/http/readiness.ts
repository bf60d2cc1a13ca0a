import { VenturiError } from "../../core/errors/errors.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { WriteWatch } from "../../journal/write-watch.ts";

export interface ReadinessDeps {
  /** Checks whether the journal responds or, with `bytes`, whether it can store that much. */
  readonly ask: (bytes?: number) => Promise<void>;
  /** After a failed write, only a successful one makes the service ready again. */
  readonly writes: Pick<WriteWatch, "failing" | "doubted" | "failed" | "worked">;
  readonly clock: Clock;
  /** How long to wait for the journal, ms. */
  readonly patience?: number;
}

/** Interval of trial writes while all is well, ms: how an otherwise idle process notices a full disk. */
const trialEvery = 10_000;
const trialBytes = 32 * 1024;
/** Size of the trial write after a failure, large enough that a disk's last free blocks do not make the service ready for one run only. */
const trialAfterFailure = 1024 * 1024;

/** Whether the journal responds and accepts writes: one check with a timeout, shared by all callers. */
export class Readiness {
  readonly #deps: ReadinessDeps;
  #asking: Promise<void> | undefined;
  #trialAt = Number.NEGATIVE_INFINITY;

  constructor(deps: ReadinessDeps) {
    this.#deps = deps;
  }

  async check(): Promise<void> {
    const { patience = 1_000 } = this.#deps;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    const timeout = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      const message = `the journal has not answered for ${patience} ms`;
      timeout.reject(new VenturiError("server.ready", "journal_failed", message));
    }, patience);
    try {
      await Promise.race([this.#asking, timeout.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #ask(): Promise<void> {
    const { ask, writes, clock } = this.#deps;
    const now = clock.monotonic();
    const isDue = writes.failing !== undefined || writes.doubted || now - this.#trialAt >= trialEvery;
    if (!isDue) return await ask();
    try {
      await ask(writes.failing === undefined ? trialBytes : trialAfterFailure);
    } catch (thrown) {
      writes.failed("ping", thrown);
      throw thrown;
    }
    this.#trialAt = now;
    writes.worked();
  }
}
