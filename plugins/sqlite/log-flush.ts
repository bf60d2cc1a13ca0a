import { open } from "node:fs/promises";

/**
 * Writes the log to the disk, outside of the thread that commits to it: what was committed without waiting for the disk would
 * otherwise be waited for by whoever commits next. Needs no answer: the commit that makes it count waits for the disk as always.
 */
export class LogFlush {
  readonly #log: string;
  #flushing: Promise<void> | undefined;

  constructor(file: string) {
    this.#log = `${file}-wal`;
  }

  /** One at a time, for all who ask. */
  flush(): Promise<void> {
    this.#flushing ??= flushed(this.#log)
      .catch(() => {}) // no such file, or a system that flushes only what it may write: the commit does it
      .finally(() => {
        this.#flushing = undefined;
      });
    return this.#flushing;
  }
}

// SQLite holds no lock on this file, so that closing it here releases none.
async function flushed(file: string): Promise<void> {
  const log = await open(file);
  try {
    await log.datasync();
  } finally {
    await log.close();
  }
}
