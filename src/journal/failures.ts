import { VenturiError, wrap } from "../core/errors/errors.ts";
import type { Claim } from "../core/journal/journal.ts";
import type { Log } from "../core/ports/log.ts";
import type { EventBody, RunEvent } from "../core/run/events.ts";
import { timeIn, timingUntil } from "../core/run/timing.ts";
import { failedWith } from "./last-words.ts";
import type { OwnedLog } from "./run-log.ts";

/** Unexpected failures of one run in this process before it ends as failed. */
const mostFailures = 3;

interface FailedWork {
  readonly claim: Claim;
  readonly history: readonly RunEvent[];
  readonly log: OwnedLog;
  /** Aborted if this worker had already lost the run. */
  readonly signal: AbortSignal;
}

/** Decides about a run whose execution threw: release it for another attempt, or end it if every attempt would throw. */
export class Failures {
  readonly #log: Log;
  /** Number of unexpected failures, by run. */
  readonly #counts = new Map<string, number>();

  constructor(log: Log) {
    this.#log = log;
  }

  forget(run: string): void {
    this.#counts.delete(run);
  }

  handle(thrown: unknown, work: FailedWork): void {
    const { run, epoch } = work.claim.ownership;
    const isFinal = !work.signal.aborted && this.#isFinal(run, thrown);
    const error = wrap("worker.execute", thrown);
    if (isFinal) return this.#endRun(work, error);
    const fields = { run, epoch, code: error.code, error: error.message };
    if (work.signal.aborted) this.#log.info("run released", fields);
    else this.#log.error("run failed unexpectedly; released for another attempt", fields);
  }

  /** Whether a retry would fail the same way. Unexpected errors are retried a few times. */
  #isFinal(run: string, thrown: unknown): boolean {
    if (VenturiError.isInstance(thrown) && thrown.code !== "internal") return !thrown.retryable;
    const failures = (this.#counts.get(run) ?? 0) + 1;
    this.#counts.set(run, failures);
    return failures >= mostFailures;
  }

  /** Ends a run that cannot be executed; a released one would be claimed and fail forever. */
  #endRun({ claim, history, log }: FailedWork, error: VenturiError): void {
    const { run, head } = claim.ownership;
    this.forget(run);
    if (head === 0 && log.head === 0) log.write({ type: "run.started", agent: claim.request.agent, input: {} });
    const at = log.now;
    const timing = timingUntil(history, at);
    const last: EventBody & { at: number } = { ...failedWith(error, timing), at };
    log.write(last);
    const ms = timeIn(timing);
    this.#log.error("run cannot be executed; ended as failed", { run, ms, code: error.code, error: error.message });
  }
}
