import { VenturiError, wrap } from "../core/errors/errors.ts";
import type { Append, Journal, Ownership } from "../core/journal/journal.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { Log } from "../core/ports/log.ts";
import { endInstead } from "./last-words.ts";
import { retry } from "./retry.ts";
import type { OwnedLog } from "./run-log.ts";
import type { WriteWatch } from "./write-watch.ts";

const op = "journal.append";

export interface FailedCommitsOptions {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Log;
  readonly writes: WriteWatch | undefined;
  readonly patience: number;
  /** Called with what the engine finally accepted. */
  readonly report: (logs: readonly OwnedLog[], batch: readonly Append[], fenced: ReadonlySet<Ownership>) => void;
}

/** Commits that the engine refused: retried while it is down, split up if it works but rejects them. */
export class FailedCommits {
  readonly #options: FailedCommitsOptions;
  readonly #closing = new AbortController();

  constructor(options: FailedCommitsOptions) {
    this.#options = options;
  }

  /** Stops retrying; pending writes fail. */
  close(): void {
    this.#closing.abort(
      new VenturiError(op, "shutting_down", "the service stopped before the journal took the events"),
    );
  }

  async retry(logs: readonly OwnedLog[], batch: readonly Append[], failure?: unknown): Promise<void> {
    try {
      const fenced = await this.#append(batch, failure);
      this.#options.report(logs, batch, fenced);
    } catch (thrown) {
      const error = wrap(op, thrown, "record_invalid");
      if (error.code === "journal_failed" || error.code === "shutting_down") {
        for (const log of logs) log.fail(error);
        return;
      }
      const [log, item] = [logs[0], batch[0]];
      if (logs.length === 1 && log && item) return this.#endRun(log, item, error);
      // The engine works but rejects this batch: commit one by one so that only the offending run fails.
      for (const [index, log] of logs.entries()) await this.retry([log], batch.slice(index, index + 1));
    }
  }

  /** The engine will never accept this batch: ends the run, so that a restart does not hit it again. */
  async #endRun(log: OwnedLog, item: Append, error: VenturiError): Promise<void> {
    const { run } = log.ownership;
    const { clock, log: lines } = this.#options;
    lines.error("record cannot be stored; run ended as failed", { run, code: error.code, error: error.message });
    const instead = endInstead(item, error, clock.now());
    const end = { ...instead, ...log.endAfter(instead.events), ...log.billing?.forEnd() };
    try {
      const fenced = await this.#append([end]);
      if (!fenced.has(log.ownership)) for (const reader of log.readers) reader.hand(end.events);
    } catch (thrown) {
      lines.error("the run's terminal event cannot be stored either", { run, error: wrap(op, thrown).message });
    }
    log.fail(error);
  }

  /**
   * Retries until the engine accepts; `failure` is what the first try threw. By the port's contract, repeating an append that did
   * succeed is harmless.
   */
  #append(batch: readonly Append[], failure?: unknown): Promise<ReadonlySet<Ownership>> {
    const { journal, clock, log, writes, patience } = this.#options;
    const append = async (tries: number): Promise<ReadonlySet<Ownership>> => {
      if (tries === 0 && failure !== undefined) throw failure;
      const fenced = await journal.append(batch);
      if (tries > 0) log.info("journal append succeeded again", { tries });
      writes?.worked();
      return fenced;
    };
    return retry(append, {
      op,
      // An error that is not the engine's own (an event that does not encode) is permanent.
      otherwise: "record_invalid",
      clock,
      patience,
      signal: () => this.#closing.signal,
      onFailure: (error, tries) => {
        writes?.failed("append", error);
        const { code, message } = error;
        if (tries === 0) log.warn("journal append failed; retrying", { code, error: message });
      },
    });
  }
}
