import type { DatabaseSync, StatementSync } from "node:sqlite";
import { isLocked } from "./failures.ts";

const shortWait = 50;

/**
 * Begins write transactions. Waiting for another process's lock blocks everyone queued behind: so it is waited for once, and
 * from then on further requests fail immediately until it is released.
 */
export class WriteLock {
  readonly #database: DatabaseSync;
  readonly #busyTimeout: number;
  #begin: StatementSync | undefined;
  #wait: number;

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

  #waitFor(ms: number): void {
    if (ms === this.#wait) return;
    this.#wait = ms;
    this.#database.exec(`PRAGMA busy_timeout = ${ms}`);
  }
}
