import { randomInt } from "node:crypto";
import type { ThreadData } from "./protocol.ts";
import { type Asked, StoreThread, type ThreadListener } from "./store-thread.ts";
import { WalFlush } from "./wal-flush.ts";

/** What the journal depends on, and a simulation replaces. */
export interface Deps {
  readonly connect: (options: Omit<ThreadData, "pageBytes">, listener: ThreadListener) => Asked;
  /** Returns a number that nobody else has. */
  readonly fresh: () => number;
  /** Syncs a file's write-ahead log to disk ahead of time. */
  readonly flush?: (file: string) => WalFlush;
}

export const real: Deps = {
  connect: (options, listener) => new StoreThread(options, listener),
  fresh: () => randomInt(1, 2 ** 47),
  flush: (file) => new WalFlush(file),
};
