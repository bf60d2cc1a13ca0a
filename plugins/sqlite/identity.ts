import { statSync } from "node:fs";

/** Thrown when the file that the connection writes to is no longer the one at its path. */
export class FileGone extends Error {}

/**
 * Whether the files at the journal's path are still those that were opened. On Unix a file can be removed while it is written
 * to: every write succeeds, and all of it is lost with the process.
 */
export class FileIdentity {
  readonly #files: readonly string[];
  readonly #known = new Map<string, string>();

  constructor(file: string) {
    this.#files = file === ":memory:" ? [] : [file, `${file}-wal`];
  }

  /** Files that are seen for the first time are those to compare with. */
  learn(): void {
    for (const file of this.#files) {
      if (this.#known.has(file)) continue;
      const identity = identityOf(file);
      if (identity !== undefined) this.#known.set(file, identity);
    }
  }

  /** The connection is closed, and SQLite may have removed the log that belonged to it. */
  forgetLog(): void {
    const [, log] = this.#files;
    if (log !== undefined) this.#known.delete(log);
  }

  /** What has become of a file that was known, if anything has. */
  get loss(): string | undefined {
    for (const [file, known] of this.#known) {
      const now = identityOf(file);
      if (now === known) continue;
      const what = now === undefined ? "was removed" : "was replaced by another";
      return `${file} ${what} while the service was writing to it; put it back, or restart the service to go on with what is there`;
    }
    return undefined;
  }

  check(): void {
    const { loss } = this;
    if (loss !== undefined) throw new FileGone(loss);
  }
}

function identityOf(file: string): string | undefined {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats === undefined || stats.nlink === 0n ? undefined : `${stats.dev}:${stats.ino}`;
}
