import { type FSWatcher, watch } from "node:fs";
import { performance } from "node:perf_hooks";

/** Between two looks where the file system reports no changes, or not all of them, ms. */
const seldom = 1_000;

/**
 * Looks whether another process has written: when the write-ahead log changes, and once a second anyway. After a look that found
 * something, the next one waits `pace` ms. Looks after our own writes find nothing and are cheap, so they wait for nothing.
 * Polling would wake an idle service, which costs more than the look itself.
 */
export class LogWatch {
  /** Whether there was a change. */
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

  /** Of a connection that was just opened: an earlier log may have been removed. */
  open(file: string): void {
    this.close();
    try {
      this.#watcher = watch(`${file}-wal`, { persistent: false }, this.#onChange);
      this.#watcher.on("error", this.#onError);
      this.#poll(seldom);
    } catch {
      // No log (the database is in memory), or the system has no watches left.
      this.#poll(this.#pace);
    }
    // What was written before it watched.
    this.#soon = setTimeout(this.#now, this.#pace).unref();
  }

  /** Changes how soon after a change the next one is seen. */
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
