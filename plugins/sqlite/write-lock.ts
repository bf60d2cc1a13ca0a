import type { DatabaseSync, StatementSync } from "node:sqlite";
import { forgetLog } from "./erasure.ts";
import { isFull, isLocked } from "./failures.ts";

const shortWait = 50;
/** Between two tries to make room, ms, where the first failed: each writes the whole log, up to 64 MiB, while others wait. */
const rest = 10_000;

/**
 * Begins write transactions. Waiting for another process's lock blocks everyone queued behind: so it is waited for once, and
 * from then on further requests fail immediately until it is released.
 */
export class WriteLock {
  readonly #database: DatabaseSync;
  readonly #busyTimeout: number;
  #begin: StatementSync | undefined;
  #wait: number;
  #fullUntil = Number.NEGATIVE_INFINITY;

  constructor(database: DatabaseSync, busyTimeout: number) {
    this.#database = database;
    this.#busyTimeout = busyTimeout;
    this.#wait = busyTimeout;
  }

  take(): void {
    this.#begin ??= this.#database.prepare("BEGIN IMMEDIATE");
    try {
      this.#begin.run();
    } catch (thrown) {
      if (isLocked(thrown)) this.#waitFor(Math.min(this.#busyTimeout, shortWait));
      throw thrown;
    }
    this.#waitFor(this.#busyTimeout);
  }

  /** After a write that found the disk full: the log's space is free again once it has been copied into the file, where that has room. */
  makesRoom(thrown: unknown): boolean {
    if (!isFull(thrown) || performance.now() < this.#fullUntil) return false;
    try {
      return forgetLog(this.#database, this.#busyTimeout);
    } catch {
      this.#fullUntil = performance.now() + rest; // The file would have to grow.
      return false;
    }
  }

  #waitFor(ms: number): void {
    if (ms === this.#wait) return;
    this.#wait = ms;
    this.#database.exec(`PRAGMA busy_timeout = ${ms}`);
  }
}
