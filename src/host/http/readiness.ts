import { VenturiError } from "../../core/errors/errors.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { WriteWatch } from "../../journal/write-watch.ts";

export interface ReadinessParts {
  /** Asks the journal whether it responds, or whether it stores so many bytes. */
  readonly ask: (bytes?: number) => Promise<void>;
  /** After a write that failed, only one that works makes the service ready again. */
  readonly writes: Pick<WriteWatch, "failing" | "doubted" | "failed" | "worked">;
  readonly clock: Clock;
  /** For the journal's answer, ms. */
  readonly patience?: number;
}

/** Between two trial writes while all is well, ms. A process that writes nothing else finds a full disk by them. */
const trialEvery = 10_000;
const trialBytes = 32 * 1024;
/** More, so that the last free blocks of a disk do not make it ready and the next run not. */
const trialAfterFailure = 1024 * 1024;

/** Whether the journal responds and takes writes: one shared check for all callers, with a timeout. */
export class Readiness {
  readonly #parts: ReadinessParts;
  #asking: Promise<void> | undefined;
  #trialAt = Number.NEGATIVE_INFINITY;

  constructor(parts: ReadinessParts) {
    this.#parts = parts;
  }

  async check(): Promise<void> {
    const { patience = 1_000 } = this.#parts;
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
    const { ask, writes, clock } = this.#parts;
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
