import { open } from "node:fs/promises";

/**
 * Syncs the log to disk outside the committing thread: data committed without waiting for the disk would otherwise delay the next commit.
 * Its result does not matter: the commit that counts still waits for the disk.
 */
export class LogFlush {
  readonly #log: string;
  #flushing: Promise<void> | undefined;

  constructor(file: string) {
    this.#log = `${file}-wal`;
  }

  /** One at a time, shared by all callers. */
  flush(): Promise<void> {
    this.#flushing ??= flushed(this.#log)
      .catch(() => {}) // No such file, or a system that only syncs writable files: the commit does it.
      .finally(() => {
        this.#flushing = undefined;
      });
    return this.#flushing;
  }
}

// SQLite holds no lock on this file, so closing it here releases none.
async function flushed(file: string): Promise<void> {
  const log = await open(file);
  try {
    await log.datasync();
  } finally {
    await log.close();
  }
}
