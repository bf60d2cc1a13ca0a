import inspector from "node:inspector";
import { Worker } from "node:worker_threads";
import { messageOf } from "../../core/errors/errors.ts";
import type { Log } from "../../core/ports/log.ts";
import { requestDoing, runDoing } from "../../core/values/doing.ts";

export interface WatchdogOptions {
  /** An event loop blocked for this long ends its process, ms; 0: never. */
  readonly wedged: number;
  /** Descriptor of the black box, if there is a reader. */
  readonly box?: number;
  /** Whether log lines are text for people. */
  readonly textLog: boolean;
  readonly log: Log;
}

/** Data passed to the thread. */
export interface Watched {
  readonly beats: SharedArrayBuffer;
  readonly tick: number;
  readonly wedged: number;
  readonly box: number | undefined;
  readonly textLog: boolean;
}

/** Name of the function the thread calls inside the blocked code. */
const question = Symbol.for("venturi.doing");
const longestTick = 1_000;
const mostFrames = 30;

/**
 * A thread that watches this process's event loop. When the loop is blocked, it asks V8 for the stack of the blocked code and logs it;
 * after `wedged` ms it ends the process, which nothing inside the loop could do. Costs a thread (15 MB, 30 ms of CPU time once) and a
 * timer. Disabled while a debugger is attached, whose breakpoints stop the loop too.
 */
export function startWatchdog({ wedged, box, textLog, log }: WatchdogOptions): () => Promise<void> {
  if (wedged === 0 || inspector.url() !== undefined) return async () => {};
  const beats = new SharedArrayBuffer(4);
  const counter = new Int32Array(beats);
  const tick = Math.min(longestTick, wedged / 4);
  const timer = setInterval(() => Atomics.add(counter, 0, 1), tick).unref();
  Object.assign(globalThis, { [question]: answer });
  const workerData: Watched = { beats, tick, wedged, box, textLog };
  const thread = new Worker(new URL("./thread.js", import.meta.url), {
    workerData,
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 },
  });
  thread.unref();
  thread.on("error", (thrown) => log.error("the watchdog has failed", { error: messageOf(thrown) }));
  return async () => {
    clearInterval(timer);
    await thread.terminate();
  };
}

/** What the thread asks for: the executing run and the stack. The async store is that of the interrupted code. */
function answer(): string {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = mostFrames;
  const holder: { stack?: string } = {};
  Error.captureStackTrace(holder, answer);
  Error.stackTraceLimit = stackTraceLimit;
  return JSON.stringify({ run: runDoing(), request: requestDoing(), stack: holder.stack });
}
