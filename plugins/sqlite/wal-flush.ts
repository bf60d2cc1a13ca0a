import { open } from "node:fs/promises";

/**
 * Syncs the write-ahead log outside the committing thread: data committed without waiting for the disk would otherwise delay the next
 * commit. Its result does not matter: the commit that counts still waits for the disk.
 */
export class WalFlush {
  readonly #wal: string;
  #flushing: Promise<void> | undefined;

  constructor(file: string) {
    this.#wal = `${file}-wal`;
  }

  /** One at a time, shared by all callers. */
  flush(): Promise<void> {
    this.#flushing ??= flushed(this.#wal)
      .catch(() => {}) // No such file, or a system that only syncs writable files: the commit does it.
      .finally(() => {
        this.#flushing = undefined;
      });
    return this.#flushing;
  }
}

// SQLite holds no lock on this file, so closing it here releases none.
async function flushed(file: string): Promise<void> {
  const wal = await open(file);
  try {
    await wal.datasync();
  } finally {
    await wal.close();
  }
}
