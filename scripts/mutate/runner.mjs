// One worker process at a time; a mutant that hangs or breaks it costs the process, not the run.
import { fork } from "node:child_process";
import { resolve } from "node:path";

export class Runner {
  #root;
  #files;
  #worker;

  constructor(root, files) {
    this.#root = root;
    this.#files = files;
  }

  /** What the worker replies, or `undefined` when it ended or was ended after `patience` ms. */
  async ask(message, patience) {
    try {
      this.#worker ??= await this.#start(this.#files);
    } catch {
      return undefined;
    }
    const reply = await answerOf(this.#worker, message, patience);
    if (!reply) await this.stop();
    return reply;
  }

  /** The same in a process of its own, in which the mutant is active while the files load. */
  async askFresh(message, { files, patience }) {
    let worker;
    try {
      worker = await this.#start(files, message.mutant);
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

  async #start(files, mutant) {
    const worker = fork(resolve("scripts/mutate/worker.mjs"), [JSON.stringify({ files, mutant })], {
      cwd: this.#root,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      execArgv: ["--no-warnings"],
      serialization: "advanced",
    });
    const { promise, resolve: ready, reject } = Promise.withResolvers();
    worker.once("message", ready);
    worker.once("exit", (code) => reject(new Error(`the worker ended with ${code} while it loaded the tests`)));
    await promise;
    return worker;
  }
}

async function answerOf(worker, message, patience) {
  const { promise, resolve: answered } = Promise.withResolvers();
  const gone = () => answered(undefined);
  const timer = setTimeout(gone, patience);
  worker.once("message", answered);
  worker.once("exit", gone);
  worker.send(message, () => {}); // one that has ended is seen as such
  const reply = await promise;
  clearTimeout(timer);
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
