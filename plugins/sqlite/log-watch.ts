import { type FSWatcher, watch } from "node:fs";
import { performance } from "node:perf_hooks";

/** Interval of checks where the file system reports no or not all changes, ms. */
const seldom = 1_000;

/**
 * Checks whether another process has written: when the write-ahead log changes, and once a second anyway. After a check that found
 * something, the next one waits `pace` ms. Checks after our own writes find nothing and are cheap, so they are not delayed. Polling would
 * wake an idle service, which costs more than the check.
 */
export class LogWatch {
  /** Returns whether there was a change. */
  readonly #look: () => boolean;
  #pace: number;
  #watcher: FSWatcher | undefined;
  #regular: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  #notBefore = 0;

  constructor(pace: number, look: () => boolean) {
    this.#pace = pace;
    this.#look = look;
  }

  /** Called with a newly opened connection: an earlier log may have been removed. */
  open(file: string): void {
    this.close();
    try {
      this.#watcher = watch(`${file}-wal`, { persistent: false }, this.#onChange);
      this.#watcher.on("error", this.#onError);
      this.#poll(seldom);
    } catch {
      // No log (an in-memory database), or the system has no watches left.
      this.#poll(this.#pace);
    }
    // Covers what was written before watching started.
    this.#soon = setTimeout(this.#now, this.#pace).unref();
  }

  /** Changes how soon the next change is seen. */
  hurry(pace: number): void {
    this.#pace = pace;
    if (this.#watcher === undefined) this.#poll(pace);
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    clearInterval(this.#regular);
    clearTimeout(this.#soon);
    this.#soon = undefined;
  }

  #poll(ms: number): void {
    clearInterval(this.#regular);
    this.#regular = setInterval(this.#now, ms).unref();
  }

  readonly #onChange = (): void => {
    if (this.#soon !== undefined) return;
    const rest = this.#notBefore - performance.now();
    if (rest <= 0) this.#now();
    else this.#soon = setTimeout(this.#now, rest).unref();
  };

  readonly #onError = (): void => {
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#poll(this.#pace);
  };

  readonly #now = (): void => {
    clearTimeout(this.#soon);
    this.#soon = undefined;
    if (this.#look()) this.#notBefore = performance.now() + this.#pace;
  };
}
