import type { ErrorJson } from "../../core/errors/errors.ts";
import type { MetricsFormat } from "../../core/ports/telemetry.ts";
import type { Death } from "../../journal/take-over.ts";
import type { ReloadReply } from "../system/reload-reply.ts";
import type { Refused } from "../watchdog/strikes.ts";

/** What one process of the service says about itself. */
export interface ProcessState {
  /** Number of the process, from 1; a replacement keeps it. */
  readonly number: number;
  readonly pid: number;
  /** `busy`: its event loop was blocked more than half of the time. `silent`: it did not answer. */
  readonly status: "starting" | "ready" | "not_ready" | "busy" | "draining" | "silent";
  /** How often the process with this number was replaced after ending unexpectedly. */
  readonly restarts: number;
  readonly startedAt: number;
  /** Executing runs; absent if it did not answer. */
  readonly runs?: number;
}

export type OwnStatus = Extract<ProcessState["status"], "ready" | "not_ready" | "busy" | "draining">;

type Answer<T> = T | Promise<T>;

export interface StartBody {
  /** Name of its worker in the journal. */
  readonly worker: string;
  readonly configFile: string;
  readonly set: readonly string[];
  /** File descriptor of its black box. */
  readonly box: number;
  /** The supervisor's listening address. */
  readonly url: string;
  readonly refused: readonly Refused[];
}

/** Calls from the supervisor to a process. */
export interface ProcessCalls {
  start(body: StartBody): void;
  reload(): Answer<ReloadReply>;
  /** Finish and exit. `release`: runs that are not done in time are left to other processes. */
  drain(body: { readonly afterDrain?: "release" }): void;
  /** The named worker is dead: make its runs claimable. */
  takeOver(body: { readonly worker: string; readonly death?: Death }): Answer<{ readonly runs: number }>;
  /** Requests that blocked processes; refuse them from now on. */
  refuse(body: { readonly refused: readonly Refused[] }): void;
  /** Take new connections, from the socket that comes with this call. A process does so from its start. */
  take(): Answer<void>;
  /** Take none until called again; those that are open stay. */
  rest(): void;
  /** Answered by the event loop; proves that it is not blocked. */
  alive(): void;
  status(): Answer<OwnStatus>;
  /** Another process is not ready: check the journal again before answering. */
  doubt(): Answer<OwnStatus>;
  /** Number of executing runs. */
  active(): number;
  /** In OpenMetrics format. */
  metrics(): Answer<string>;
  trace(body: { readonly run: string }): unknown;
}

/** Calls from a process to the supervisor. */
export interface SupervisorCalls {
  ready(): void;
  /** The process cannot start, for this reason. */
  failed(body: ErrorJson): void;
  /** The process accepts no more connections. */
  draining(): void;
  /** Reports the number of open connections and the load, 0 to 1; returns how many to keep, if that is fewer. */
  connections(body: { readonly open: number; readonly load?: number }): { readonly keep?: number };
  /** Final metrics before it exits. */
  ended(body: { readonly metrics: string }): void;
  /** Sum of the metrics of all processes. */
  metrics(body: { readonly format: MetricsFormat }): Answer<string>;
  states(): Answer<readonly ProcessState[]>;
  /** The run's trace, from whichever process has it. */
  trace(body: { readonly run: string }): unknown;
  /** Counts a request under the key; a window starts with its first request. */
  count(body: { readonly key: string; readonly window: number }): { readonly current: number; readonly ttl: number };
}
