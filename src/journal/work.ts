import type { Claim, ClaimFilter, Journal } from "../core/journal/journal.ts";
import type { Billing } from "../core/journal/money.ts";
import type { RunLog, SignalFeed } from "../core/journal/run-log.ts";
import type { PriceOf } from "../core/model/prices.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { Log } from "../core/ports/log.ts";
import type { DigestFold } from "../core/run/digest.ts";
import type { RunEvent } from "../core/run/events.ts";
import type { Committer } from "./committer.ts";

/** A run while this worker owns it. */
export interface Work {
  readonly claim: Claim;
  /** All events of the run so far. */
  readonly history: readonly RunEvent[];
  readonly log: RunLog;
  /** Kept up to date with `log`. */
  readonly digest: DigestFold;
  /** Usage that is not stored yet. */
  readonly billing: Billing;
  readonly signals: SignalFeed;
  /**
   * Aborts when this worker loses the run: another worker took over, the journal gave up, or the worker stops. The run itself
   * continues: stop and write nothing more, the next owner resumes it.
   */
  readonly signal: AbortSignal;
}

export interface WorkWatch {
  begin(claim: Claim): void;
  end(run: string): void;
}

export interface WorkerOptions {
  readonly journal: Journal;
  readonly committer: Committer;
  /** Resolves when the run has its terminal event, is parked, or `signal` aborts. A run left open is released. */
  readonly execute: (work: Work) => Promise<void>;
  /** Unique per process; generated when absent. */
  readonly name?: string;
  readonly clock?: Clock;
  readonly log?: Log;
  /** Which runs can execute here, evaluated before each claim; all when absent. */
  readonly claims?: () => ClaimFilter;
  /** Maximum number of concurrent runs. */
  readonly concurrency?: number;
  /** Model prices for the cost in a run's digest; evaluated when a run starts here. */
  readonly prices?: () => PriceOf;
  /** Called when a run starts and stops executing here, however it was started. */
  readonly watch?: WorkWatch;
  /** How many runs fit into memory, whatever their size; evaluated before each claim. Unlimited when absent. */
  readonly fitting?: () => number;
  /** Polling interval for work without hints, ms. */
  readonly poll?: number;
  /** Polling interval for signals without hints, ms. */
  readonly signalPoll?: number;
}
