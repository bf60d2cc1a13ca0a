import { VenturiError } from "../../core/errors.ts";

/** Whether the journal responds: one shared check for all callers, with a timeout. */
export class Readiness {
  readonly #ask: () => Promise<void>;
  readonly #patience: number;
  #asking: Promise<void> | undefined;

  constructor(ask: () => Promise<void>, patience = 1_000) {
    this.#ask = ask;
    this.#patience = patience;
  }

  async check(): Promise<void> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    const timeout = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      const message = `the journal has not answered for ${this.#patience} ms`;
      timeout.reject(new VenturiError("server.ready", "journal_failed", message));
    }, this.#patience);
    try {
      await Promise.race([this.#asking, timeout.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}
