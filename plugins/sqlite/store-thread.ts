import { Worker } from "node:worker_threads";
import { pageBytes } from "venturi/internal";
import { VenturiError } from "venturi/plugin";
import type { Changes, Operation, Operations, Reply, ThreadData } from "./protocol.ts";

interface Pending {
  readonly op: string;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: VenturiError) => void;
}

export interface ThreadListener {
  changed(changes: Changes): void;
  /** Why the file is no longer the open one; undefined once it is again. */
  loss(reason: string | undefined): void;
  /** The file was migrated from an older version. */
  migrated(from: number, to: number): void;
  /** The write-ahead log is large enough to be copied into the file. */
  grown(): void;
}

/** Executes the journal's operations. */
export interface Asked {
  ask<O extends Operation>(operation: O, ...args: Parameters<Operations[O]>): Promise<ReturnType<Operations[O]>>;
  close(): Promise<void>;
}

/** A thread, or the port to one that serves several journals, as in tests: a start takes 40 ms of CPU. */
type Thread = Pick<Worker, "on" | "once" | "postMessage">;
export type StartThread = (data: ThreadData) => Thread;

/** The thread from outside: requests in, responses out. A dead thread is replaced at the next request. */
export class StoreThread implements Asked {
  readonly #options: Omit<ThreadData, "pageBytes">;
  readonly #listener: ThreadListener;
  readonly #startThread: StartThread;
  readonly #pending = new Map<number, Pending>();
  #worker: Thread | undefined;
  #next = 0;
  #closed = false;

  constructor(options: Omit<ThreadData, "pageBytes">, listener: ThreadListener, startThread: StartThread = ownThread) {
    this.#startThread = startThread;
    this.#options = options;
    this.#listener = listener;
    // Takes 50 ms, in which the rest of the program starts.
    if (options.role === "all") this.#worker = this.#start();
  }

  ask<O extends Operation>(operation: O, ...args: Parameters<Operations[O]>): Promise<ReturnType<Operations[O]>> {
    return new Promise((resolve, reject) => {
      const op = `journal.${operation}`;
      if (this.#closed) throw new VenturiError(op, "journal_failed", "the journal has been closed");
      const id = ++this.#next;
      this.#worker ??= this.#start();
      // Throws for values that cannot be cloned, before anything waits for a response.
      if (operation === "putBlobPart") this.#worker.postMessage({ id, operation, args }, handedOver(args));
      else this.#worker.postMessage({ id, operation, args });
      this.#pending.set(id, { op, resolve: resolve as Pending["resolve"], reject }); // Typed by `Operations`.
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    const worker = this.#worker;
    const gone = worker && new Promise((resolve) => worker.once("exit", resolve));
    const closing = worker && this.ask("close");
    this.#closed = true;
    await closing;
    await gone;
  }

  #start(): Thread {
    const worker = this.#startThread({ ...this.#options, pageBytes });
    worker.on("message", this.#receive);
    worker.on("error", (error) => this.#lost(worker, error));
    worker.on("exit", () => this.#lost(worker, new Error("the journal's thread has ended")));
    return worker;
  }

  readonly #receive = (reply: Reply): void => {
    if ("changed" in reply) return this.#listener.changed(reply.changed);
    if ("grown" in reply) return this.#listener.grown();
    if ("loss" in reply) return this.#listener.loss(reply.loss);
    if ("migrated" in reply) return this.#listener.migrated(reply.migrated.from, reply.migrated.to);
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if (!pending) return;
    if ("failure" in reply) {
      const code = reply.permanent ? "record_invalid" : "journal_failed";
      pending.reject(new VenturiError(pending.op, code, reply.failure, { cause: new Error(reply.cause) }));
    } else pending.resolve(reply.value);
  };

  #lost(worker: Thread, cause: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { op, reject } of pending) {
      reject(new VenturiError(op, "journal_failed", `the journal's thread was lost: ${cause.message}`, { cause }));
    }
  }
}

const ownThread: StartThread = (workerData) =>
  new Worker(new URL("./thread.js", import.meta.url), {
    workerData,
    // Without this process's flags: some (--input-type) make no sense for a file.
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });

/** Transfers the memory of bytes copied for the thread: a second copy would take as long again. */
const handedOver = (args: readonly unknown[]): ArrayBuffer[] =>
  args.flatMap((arg) => (arg instanceof Uint8Array ? [arg.buffer as ArrayBuffer] : []));
