import { randomInt } from "node:crypto";
import { MessageChannel } from "node:worker_threads";
import type { ThreadData } from "./protocol.ts";
import { type Asked, type StartThread, StoreThread, type ThreadListener } from "./store-thread.ts";
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

/** Without threads: a process that ends after one command would wait 50 to 100 ms for them, and has nothing else to do during a commit. */
export async function inThisThread(): Promise<Deps> {
  const { serve } = await import("./serve.ts");
  const start: StartThread = (data) => {
    const { port1: port, port2 } = new MessageChannel();
    port.on("close", () => port.emit("exit", 0));
    serve(port2, data);
    return port as unknown as ReturnType<StartThread>; // Its types know none but its own events.
  };
  return { ...real, connect: (options, listener) => new StoreThread(options, listener, start) };
}
