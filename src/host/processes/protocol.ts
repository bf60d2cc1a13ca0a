import type { ErrorJson } from "../../core/errors/errors.ts";
import type { MetricsFormat } from "../../core/ports/telemetry.ts";
import type { Death } from "../../journal/take-over.ts";
import type { ReloadVerdict } from "../system/reload-verdict.ts";
import type { Refused } from "../watchdog/strikes.ts";

/** What one process of the service says about itself. */
export interface ProcessState {
  /** Place among the processes, from 1; a replacement has the number of the one it replaces. */
  readonly number: number;
  readonly pid: number;
  /** `busy`: its event loop was blocked more than half of the time. `silent`: it did not answer. */
  readonly status: "starting" | "ready" | "not_ready" | "busy" | "draining" | "silent";
  /** How often the process in this place was replaced because it ended by itself. */
  readonly restarts: number;
  readonly startedAt: number;
  /** Runs under way, as far as it answered. */
  readonly runs?: number;
}

export type OwnStatus = Extract<ProcessState["status"], "ready" | "not_ready" | "busy" | "draining">;

type Answer<T> = T | Promise<T>;

export interface StartBody {
  /** Name of its worker in the journal. */
  readonly worker: string;
  readonly configFile: string;
  readonly set: readonly string[];
  /** Descriptor of its black box. */
  readonly box: number;
  /** Where the supervisor listens. */
  readonly url: string;
  readonly refused: readonly Refused[];
}

/** What the supervisor asks of a process. */
export interface ProcessCalls {
  start(body: StartBody): void;
  reload(): Answer<ReloadVerdict>;
  /** Finish and exit. `release`: runs that are not done by then are left to the other processes. */
  drain(body: { readonly afterDrain?: "release" }): void;
  /** The process of this name is dead: make its runs claimable. */
  takeOver(body: { readonly worker: string; readonly death?: Death }): Answer<{ readonly runs: number }>;
  /** These blocked processes and are not to be tried again. */
  refuse(body: { readonly refused: readonly Refused[] }): void;
  /** Answered by the event loop alone: that it turns. */
  alive(): void;
  status(): Answer<OwnStatus>;
  /** Another process is not ready: ask the journal again before saying so of yourself. */
  doubt(): Answer<OwnStatus>;
  /** Number of runs under way. */
  active(): number;
  /** As OpenMetrics. */
  metrics(): Answer<string>;
  trace(body: { readonly run: string }): unknown;
}

/** What a process asks of the supervisor. */
export interface SupervisorCalls {
  ready(): void;
  /** It cannot start, for this reason. */
  failed(body: ErrorJson): void;
  /** It takes no more connections. */
  draining(): void;
  /** It has so many connections; answered with the mean of all processes. */
  connections(body: { readonly open: number }): { readonly mean: number };
  /** Its last metrics, before it exits. */
  ended(body: { readonly metrics: string }): void;
  /** Metrics of all processes, added up. */
  metrics(body: { readonly format: MetricsFormat }): Answer<string>;
  states(): Answer<readonly ProcessState[]>;
  /** Trace of the run from whichever process has it. */
  trace(body: { readonly run: string }): unknown;
  /** Counts a request under the key; a window begins with its first. */
  count(body: { readonly key: string; readonly window: number }): { readonly current: number; readonly ttl: number };
}
