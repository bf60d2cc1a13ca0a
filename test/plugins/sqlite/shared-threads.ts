import { MessageChannel, Worker } from "node:worker_threads";
import { type Deps, real } from "../../../plugins/sqlite/deps.ts";
import type { ThreadData } from "../../../plugins/sqlite/protocol.ts";
import { type StartThread, StoreThread } from "../../../plugins/sqlite/store-thread.ts";

/** By role, two each: the journals of two replicas run at the same time, as with their own threads. */
const threads = new Map<string, Worker>();
const turns = { all: 0, reads: 0, wal: 0 };

/** The journal as it is, except that its threads serve other journals too. */
export const sharedThreads: Deps = {
  ...real,
  connect: (options, listener) => new StoreThread(options, listener, start),
};

const start: StartThread = (data) => {
  const { port1: port, port2: theirs } = new MessageChannel();
  port.on("close", () => port.emit("exit", 0));
  threadFor(data.role).postMessage({ port: theirs, data }, [theirs]);
  return port as unknown as Worker; // Its types know none but its own events.
};

function threadFor(role: ThreadData["role"]): Worker {
  const name = `${role}-${turns[role]++ % 2}`;
  let thread = threads.get(name);
  if (thread === undefined) {
    thread = new Worker(new URL("./shared-thread.js", import.meta.url));
    thread.unref();
    threads.set(name, thread);
  }
  return thread;
}
