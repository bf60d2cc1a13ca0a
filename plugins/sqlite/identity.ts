import { statSync } from "node:fs";

/** The file at the path is no longer the one the connection writes to. */
export class FileGone extends Error {}

/**
 * Detects that the files at the journal's path were replaced. On Unix a file can be deleted while open: every write succeeds,
 * and all of it is lost with the process.
 */
export class FileIdentity {
  readonly #files: readonly string[];
  readonly #known = new Map<string, string>();

  constructor(file: string) {
    this.#files = file === ":memory:" ? [] : [file, `${file}-wal`];
  }

  /** Records files seen for the first time. */
  learn(): void {
    for (const file of this.#files) {
      if (this.#known.has(file)) continue;
      const identity = identityOf(file);
      if (identity !== undefined) this.#known.set(file, identity);
    }
  }

  /** The connection is closed, and SQLite may have removed its WAL. */
  forgetLog(): void {
    const [, wal] = this.#files;
    if (wal !== undefined) this.#known.delete(wal);
  }

  /** What happened to a known file, if anything. */
  get loss(): string | undefined {
    for (const [file, known] of this.#known) {
      const now = identityOf(file);
      if (now === known) continue;
      const what = now === undefined ? "was removed" : "was replaced by another";
      const which = file.endsWith("-wal") ? "its log (-wal)" : "its file";
      return `${which} ${what} while the service was writing to it; put it back, or restart the service to go on with what is there`;
    }
    return undefined;
  }

  check(): void {
    const { loss } = this;
    if (loss !== undefined) throw new FileGone(loss);
  }
}

/** Asked before every write: as numbers, which cost half as much as BigInts, wherever they are exact. */
function identityOf(file: string): string | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined || stats.nlink === 0) return undefined;
  if (stats.ino <= Number.MAX_SAFE_INTEGER && stats.dev <= Number.MAX_SAFE_INTEGER) return `${stats.dev}:${stats.ino}`;
  const exact = statSync(file, { bigint: true, throwIfNoEntry: false });
  return exact && `${exact.dev}:${exact.ino}`;
}
