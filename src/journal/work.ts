import type { Claim } from "../core/journal/journal.ts";
import type { Billing } from "../core/journal/money.ts";
import type { RunLog, SignalFeed } from "../core/journal/run-log.ts";
import type { DigestFold } from "../core/run/digest.ts";
import type { RunEvent } from "../core/run/events.ts";

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
