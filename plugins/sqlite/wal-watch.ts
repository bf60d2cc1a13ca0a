import { type FSWatcher, watch } from "node:fs";

/** Interval of checks where the file system reports no or not all changes, ms. */
const seldom = 1_000;

/**
 * Checks whether another process has written: when the write-ahead log changes, and once a second anyway. After a check that found
 * something, the log is not watched for `pace` ms: processes that write often would wake each other with every commit. Checks after our own
 * writes find nothing and are cheap, so they are not delayed. Polling would wake an idle service, which costs more than the check.
 */
export class WalWatch {
  /** Returns whether there was a change. */
  readonly #look: () => boolean;
  #pace: number;
  /** Undefined if closed, or if it cannot be watched. */
  #wal: string | undefined;
  #watcher: FSWatcher | undefined;
  #regular: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;

  constructor(pace: number, look: () => boolean) {
    this.#pace = pace;
    this.#look = look;
  }

  /** Called with a newly opened connection: an earlier log may have been removed. */
  open(file: string): void {
    this.close();
    this.#wal = `${file}-wal`;
    this.#poll(seldom);
    this.#watch();
    // Covers what was written before watching started.
    this.#soon = setTimeout(this.#now, this.#pace).unref();
  }

  /** Changes how soon the next change is seen. */
  hurry(pace: number): void {
    this.#pace = pace;
    if (this.#wal === undefined) this.#poll(pace);
  }

  close(): void {
    this.#unwatch();
    this.#wal = undefined;
    clearInterval(this.#regular);
    clearTimeout(this.#soon);
    this.#soon = undefined;
  }

  #poll(ms: number): void {
    clearInterval(this.#regular);
    this.#regular = setInterval(this.#now, ms).unref();
  }

  #watch(): void {
    if (this.#wal === undefined) return;
    try {
      this.#watcher = watch(this.#wal, { persistent: false }, this.#onChange);
      this.#watcher.on("error", this.#onError);
    } catch {
      this.#onError();
    }
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  readonly #onChange = (): void => {
    if (this.#soon === undefined) this.#now();
  };

  /** No log (an in-memory database), or the system has no watches left. */
  readonly #onError = (): void => {
    this.#unwatch();
    this.#wal = undefined;
    this.#poll(this.#pace);
  };

  readonly #now = (): void => {
    clearTimeout(this.#soon);
    this.#soon = undefined;
    const isWatched = this.#watcher !== undefined;
    if (!this.#look()) {
      if (isWatched || this.#wal === undefined) return;
      this.#watch();
      // Covers what was written between the two.
      if (!this.#look()) return;
    }
    this.#unwatch();
    if (this.#wal !== undefined) this.#soon = setTimeout(this.#now, this.#pace).unref();
  };
}
