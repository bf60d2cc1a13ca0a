// One worker process; a mutant that hangs or breaks it costs the process, not the run.
import { fork } from "node:child_process";
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { ownTime } from "./own-time.mjs";

export class Runner {
  #root;
  #dry;
  #worker;
  /** Whether the last question was the first one of its process. */
  wasFresh = true;

  /** `dry`: to find out what tests reach. */
  constructor(root, { dry = false } = {}) {
    this.#root = root;
    this.#dry = dry;
  }

  /** What the worker replies, or `undefined` when it ended or was ended after `patience` ms of its own time. */
  async ask(message, patience) {
    this.wasFresh = this.#worker === undefined;
    try {
      this.#worker ??= await this.#start();
    } catch {
      return undefined;
    }
    const reply = await answerOf(this.#worker, message, patience);
    if (!reply) await this.stop();
    return reply;
  }

  /** The same in its own process, in which the mutant is active while the files load. */
  async askFresh(message, patience) {
    let worker;
    try {
      worker = await this.#start(message.mutant);
    } catch {
      return { failure: { title: "loading the tests", file: undefined } };
    }
    const reply = await answerOf(worker, message, patience);
    await end(worker);
    return reply;
  }

  async stop() {
    const worker = this.#worker;
    this.#worker = undefined;
    if (worker) await end(worker);
  }

  async #start(mutant) {
    const temporary = resolve(this.#root, "../tmp");
    mkdirSync(temporary, { recursive: true });
    const worker = fork(resolve("scripts/mutate/worker.mjs"), [JSON.stringify({ mutant, dry: this.#dry })], {
      cwd: this.#root,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      execArgv: ["--no-warnings"],
      // Loading the mutated sources is most of what a new process costs. Files that tests leave behind go with the sandbox.
      env: { ...process.env, NODE_COMPILE_CACHE: resolve(this.#root, "../compiled"), TMPDIR: temporary },
      serialization: "advanced",
    });
    const { promise, resolve: ready, reject } = Promise.withResolvers();
    worker.once("message", ready);
    worker.once("exit", (code) => reject(new Error(`the worker ended with ${code} while it started`)));
    await promise;
    return worker;
  }
}

async function answerOf(worker, message, patience) {
  const { promise, resolve: answered } = Promise.withResolvers();
  const gone = () => answered(undefined);
  const stop = ownTime(worker.pid) + patience;
  const timer = setInterval(() => ownTime(worker.pid) > stop && gone(), 500);
  worker.once("message", answered);
  worker.once("exit", gone);
  worker.send(message, () => {}); // one that has ended is seen as such
  const reply = await promise;
  clearInterval(timer);
  worker.off("exit", gone);
  worker.off("message", answered);
  return reply;
}

async function end(worker) {
  if (worker.exitCode !== null || worker.signalCode !== null) return;
  const gone = new Promise((done) => worker.once("exit", done));
  worker.kill("SIGKILL");
  await gone;
}
