import { type ChildProcess, fork } from "node:child_process";
import type { Socket } from "node:net";
import { fromJson, VenturiError } from "../../core/errors.ts";
import { newWorkerName } from "../../journal/worker.ts";
import { Link } from "./link.ts";
import type { ProcessCalls, StartBody, SupervisorCalls } from "./protocol.ts";

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface ChildParts {
  readonly number: number;
  /** The module it runs. */
  readonly program: URL;
  readonly start: Omit<StartBody, "worker">;
  readonly answer: Pick<SupervisorCalls, "took" | "metrics" | "states" | "trace" | "count">;
}

/** One process of the service, as its supervisor sees it. */
export class Child {
  readonly number: number;
  /** Its worker's name in the journal. Given from here, so that it is known even if the process dies while starting. */
  readonly name: string;
  readonly pid: number;
  readonly link: Link<ProcessCalls>;
  readonly startedAt = Date.now();
  /** Resolves when it takes connections. Rejects when it ends before. */
  readonly ready: Promise<void>;
  readonly ended: Promise<Ended>;
  status: "starting" | "ready" | "draining" = "starting";
  readyAt: number | undefined;
  /** As last reported. */
  metrics = "";
  readonly #process: ChildProcess;

  constructor({ number, program, start, answer }: ChildParts) {
    this.number = number;
    this.#process = fork(program);
    this.pid = this.#process.pid ?? 0;
    this.name = newWorkerName(this.pid);
    const ready = Promise.withResolvers<void>();
    this.ready = ready.promise;
    this.ready.catch(() => {}); // awaited by some, reported by `ended` to all
    const calls: SupervisorCalls = {
      ...answer,
      ready: () => {
        this.status = "ready";
        this.readyAt = Date.now();
        ready.resolve();
      },
      draining: () => {
        this.status = "draining";
      },
      failed: (error) => ready.reject(fromJson(error)),
      ended: ({ metrics }) => {
        this.metrics = metrics;
      },
    };
    this.link = new Link<ProcessCalls>(this.#process, { ...calls });
    this.ended = new Promise((resolve) => {
      this.#process.once("exit", (code, signal) => {
        const reason = `the process ${this.pid} has ended (${signal ?? `status ${code}`})`;
        this.link.close(reason);
        ready.reject(new VenturiError("process.start", "unavailable", reason));
        resolve({ code, signal });
      });
      this.#process.on("error", () => {}); // a message to a dead process; `exit` follows
    });
    this.link.ask("start", { ...start, worker: this.name }).catch(() => {}); // a process that does not take it ends, or is killed
  }

  /** Passes a connection on; `failed` is called when it could not be sent. */
  hand(connection: number, socket: Socket, failed: () => void): void {
    if (!this.#process.connected) return void setImmediate(failed);
    this.#process.send({ connection }, socket, { keepOpen: true }, (error) => {
      if (error) failed();
    });
  }

  drain(afterDrain?: "release"): void {
    this.status = "draining";
    this.link.ask("drain", afterDrain === undefined ? {} : { afterDrain }).catch(() => {}); // it is killed when it does not end
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }
}
