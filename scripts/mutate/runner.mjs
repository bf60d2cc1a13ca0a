// One worker process at a time; a mutant that hangs or breaks it costs the process, not the run.
import { fork } from "node:child_process";
import { resolve } from "node:path";

export class Runner {
  #root;
  #files;
  #worker;
  #timeout;

  constructor(root, files, timeout) {
    this.#root = root;
    this.#files = files;
    this.#timeout = timeout;
  }

  /** What the worker says, or `undefined` when it ended or was ended after `patience` ms. */
  async ask(message, patience) {
    this.#worker ??= await this.#start();
    const worker = this.#worker;
    const said = Promise.withResolvers();
    const timer = setTimeout(() => said.resolve(undefined), patience);
    const gone = () => said.resolve(undefined);
    worker.once("message", said.resolve);
    worker.once("exit", gone);
    worker.send(message);
    const reply = await said.promise;
    clearTimeout(timer);
    worker.off("exit", gone);
    if (!reply) await this.stop();
    return reply;
  }

  async stop() {
    const worker = this.#worker;
    this.#worker = undefined;
    if (!worker || worker.exitCode !== null || worker.signalCode !== null) return;
    const gone = new Promise((done) => worker.once("exit", done));
    worker.kill("SIGKILL");
    await gone;
  }

  async #start() {
    const worker = fork(
      resolve("scripts/mutate/worker.mjs"),
      [JSON.stringify({ files: this.#files, timeout: this.#timeout })],
      {
        cwd: this.#root,
        stdio: ["ignore", "ignore", "inherit", "ipc"],
        execArgv: ["--no-warnings"],
      },
    );
    await new Promise((ready, fail) => {
      worker.once("message", ready);
      worker.once("exit", (code) => fail(new Error(`the worker ended with ${code} while it loaded the tests`)));
    });
    return worker;
  }
}
