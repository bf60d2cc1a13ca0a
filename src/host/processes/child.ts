import { type ChildProcess, fork } from "node:child_process";
import { fromJson, VenturiError } from "../../core/errors/errors.ts";
import type { Death } from "../../journal/take-over.ts";
import { newWorkerName } from "../../journal/worker.ts";
import { nodeOptions } from "../system/node-options.ts";
import { BlackBox, deathOf, inheritedBox } from "../watchdog/black-box.ts";
import { Link, type SharedHandle } from "./link.ts";
import type { ProcessCalls, StartBody, SupervisorCalls } from "./protocol.ts";

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  /** Undefined after a regular exit. */
  readonly death: Death | undefined;
}

export interface ChildDeps {
  readonly number: number;
  /** The module that it executes. */
  readonly program: URL;
  /** The service's socket, inherited by the process. */
  readonly socket: number;
  readonly start: Omit<StartBody, "worker" | "box">;
  /** Called when its load or status has changed. */
  readonly reported: () => void;
  /** How many connections it should keep, if fewer. */
  readonly share: () => number | undefined;
  readonly answer: Pick<SupervisorCalls, "metrics" | "states" | "trace" | "count">;
}

/** One process of the service, as its supervisor sees it. */
export class Child {
  readonly number: number;
  /** Its worker's name in the journal. Assigned here, so that it is known even if the process dies while starting. */
  readonly name: string;
  readonly pid: number;
  readonly link: Link<ProcessCalls>;
  readonly startedAt = Date.now();
  /** Resolves when it accepts connections; rejects if it ends before. */
  readonly ready: Promise<void>;
  readonly ended: Promise<Ended>;
  status: "starting" | "ready" | "draining" = "starting";
  readyAt: number | undefined;
  /** As last reported. */
  metrics = "";
  connections = 0;
  load = 0;
  reportedAt = 0;
  #takes = true;
  /** When its event loop last responded. */
  seenAt = performance.now();
  readonly #process: ChildProcess;
  readonly #box = new BlackBox();

  constructor({ number, program, socket, start, answer, reported, share }: ChildDeps) {
    this.number = number;
    this.#process = fork(program, {
      execArgv: nodeOptions(process.execArgv, process.env),
      stdio: ["inherit", "inherit", "inherit", "ipc", socket, this.#box.fd],
    });
    this.pid = this.#process.pid ?? 0;
    this.name = newWorkerName(this.pid);
    const ready = Promise.withResolvers<void>();
    this.ready = ready.promise;
    this.ready.catch(() => {}); // Awaited by some; `ended` reports the failure to all.
    const calls: SupervisorCalls = {
      ...answer,
      ready: () => {
        this.status = "ready";
        this.readyAt = performance.now();
        this.reportedAt = this.readyAt;
        ready.resolve();
      },
      draining: () => {
        this.status = "draining";
        reported();
      },
      connections: ({ open, load = 0 }) => {
        this.connections = open;
        this.load = load;
        this.reportedAt = performance.now();
        reported();
        const keep = share();
        return keep === undefined ? {} : { keep };
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
        const death = deathOf(this.#box, signal ?? `status ${code}`);
        resolve({ code, signal, death: code === 0 && death.run === undefined ? undefined : death });
      });
      this.#process.on("error", () => {}); // A message to a dead process; `exit` follows.
    });
    this.link.ask("start", { ...start, worker: this.name, box: inheritedBox }).catch(() => {}); // If the process does not take it, it ends or is killed.
  }

  get takes(): boolean {
    return this.#takes;
  }

  /** Whether it takes new connections, from now on. */
  take(takes: boolean, socket: SharedHandle): void {
    if (takes === this.#takes) return;
    this.#takes = takes;
    this.reportedAt = performance.now();
    const told = takes ? this.link.ask("take", undefined, undefined, socket) : this.link.ask("rest", undefined);
    told.catch(() => {
      if (takes) this.take(false, socket); // It may still begin to, once it is no longer blocked. Tried again with the next report.
    });
  }

  drain(afterDrain?: "release"): void {
    this.status = "draining";
    this.link.ask("drain", afterDrain === undefined ? {} : { afterDrain }).catch(() => {}); // It is killed if it does not end.
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }
}
