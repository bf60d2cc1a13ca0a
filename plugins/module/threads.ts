import { Worker } from "node:worker_threads";
import { isCode } from "venturi/internal";
import { type Code, messageOf, RichOutput, type ToolContext, VenturiError } from "venturi/plugin";
import type { FromThread, PlainContext, ThreadOptions, ToThread } from "./thread-protocol.ts";

export type Loaded = Extract<FromThread, { type: "loaded" }>;

/** How long a cancelled call may continue before its thread is terminated, ms. */
const grace = 500;
const mostIdle = 2;
const heapMegabytes = 256;

/** One thread with the tool loaded. */
interface Thread {
  readonly worker: Worker;
  readonly loaded: Promise<Loaded>;
  /** Receives the running call's messages, and the thread's end. */
  hear: (message: FromThread) => void;
  lost: (reason: string) => void;
}

/** Threads of one tool: one per running call, with a few kept for reuse. A blocked or crashed thread is replaced. */
export class Threads {
  readonly #options: ThreadOptions;
  readonly #idle: Thread[] = [];
  readonly #all = new Set<Thread>();

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  /** Loads the tool once to get its description; the thread then serves the first call. */
  async describe(): Promise<Loaded> {
    const thread = this.#start();
    const loaded = await thread.loaded;
    this.#idle.push(thread);
    return loaded;
  }

  async call(input: Record<string, unknown>, context: ToolContext): Promise<unknown> {
    context.signal.throwIfAborted();
    const thread = this.#idle.pop() ?? this.#start();
    await thread.loaded;
    thread.worker.ref();
    let usable = true;
    try {
      context.signal.throwIfAborted(); // It may have been cancelled while the thread loaded.
      return await converse(thread, input, context);
    } catch (thrown) {
      if (!(thrown instanceof Gone)) throw thrown;
      usable = false;
      throw new VenturiError("tool.call", "tool_failed", thrown.message);
    } finally {
      this.#leave(thread, { usable });
    }
  }

  async close(): Promise<void> {
    this.#idle.length = 0;
    await Promise.all([...this.#all].map(({ worker }) => worker.terminate()));
  }

  #leave(thread: Thread, { usable }: { usable: boolean }): void {
    thread.hear = () => {};
    thread.lost = () => {};
    thread.worker.unref();
    if (usable && this.#all.has(thread) && this.#idle.length < mostIdle) this.#idle.push(thread);
    else void thread.worker.terminate();
  }

  #start(): Thread {
    const worker = new Worker(new URL("./thread.js", import.meta.url), {
      workerData: this.#options,
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytes },
      execArgv: [],
    });
    const loaded = Promise.withResolvers<Loaded>();
    loaded.promise.catch(() => {}); // Handled by those who await it.
    const thread: Thread = { worker, loaded: loaded.promise, hear: () => {}, lost: () => {} };
    this.#all.add(thread);
    worker.on("message", (message: FromThread) => {
      if (message.type === "loaded") {
        // Only a thread that is loading or working keeps the process alive.
        worker.unref();
        loaded.resolve(message);
      } else thread.hear(message);
    });
    const gone = (reason: string, cause?: unknown) => {
      this.#all.delete(thread);
      const index = this.#idle.indexOf(thread);
      if (index >= 0) this.#idle.splice(index, 1);
      loaded.reject(VenturiError.isInstance(cause) ? cause : new VenturiError("tool.create", "plugin_failed", reason));
      thread.lost(reason);
    };
    worker.on("error", (thrown) => gone(`the tool crashed its thread: ${messageOf(thrown)}`, thrown));
    worker.on("exit", (code) => gone(`the tool ended its thread (exit ${code})`));
    return thread;
  }
}

/** The thread ended or was terminated. */
class Gone extends Error {}

function converse(thread: Thread, input: Record<string, unknown>, context: ToolContext): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const done = () => {
      clearTimeout(timer);
      context.signal.removeEventListener("abort", cancel);
    };
    const cancel = () => {
      thread.worker.postMessage({ type: "cancel", reason: messageOf(context.signal.reason) } satisfies ToThread);
      // A busy thread does not receive messages.
      timer = setTimeout(() => thread.lost("the tool went on after it was cancelled; its thread was ended"), grace);
    };
    thread.lost = (reason) => {
      done();
      reject(new Gone(reason));
    };
    thread.hear = (message) => {
      if (message.type === "progress") return context.progress(message.text);
      if (message.type === "log") return context.log[message.level](message.message, message.fields);
      if (message.type === "loaded") return;
      done();
      if (message.type === "done")
        resolve(message.images.length === 0 ? message.text : new RichOutput(message.text, message.images));
      else reject(new VenturiError("tool.call", codeOf(message.code), message.message));
    };
    context.signal.addEventListener("abort", cancel, { once: true });
    thread.worker.postMessage({ type: "call", input, context: plain(context) } satisfies ToThread);
  });
}

const codeOf = (code: string): Code => (isCode(code) ? code : "tool_failed");

function plain({
  run,
  round,
  call,
  agent,
  attempt,
  idempotencyKey,
  depth,
  session,
  traceparent,
}: ToolContext): PlainContext {
  return {
    run,
    round,
    call,
    agent,
    attempt,
    idempotencyKey,
    depth,
    ...(session === undefined ? {} : { session }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}
