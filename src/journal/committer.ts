import { VenturiError } from "../core/errors/errors.ts";
import type { Append, Journal, Ownership } from "../core/journal/journal.ts";
import { type Clock, systemClock } from "../core/ports/clock.ts";
import { type Log, silentLog } from "../core/ports/log.ts";
import type { Digest } from "../core/run/digest.ts";
import type { RunRequest } from "../core/run/run-request.ts";
import { FailedCommits } from "./failed-commits.ts";
import { isLarge, LargeTurns, large } from "./large-turns.ts";
import { RunClocks } from "./run-clocks.ts";
import { type LogOwner, OwnedLog, type Reader } from "./run-log.ts";
import type { WriteWatch } from "./write-watch.ts";

/** Receives this process's events once they are durable. */
export interface CommitListener {
  /** Returns the run's readers; the listener keeps that collection up to date while the log is open. */
  opened(ownership: Ownership): Iterable<Reader>;
  closed(ownership: Ownership): void;
}

export interface CommitterOptions {
  readonly journal: Journal;
  readonly clock?: Clock;
  readonly log?: Log;
  readonly listener?: CommitListener;
  /** Notified when appends fail, and when they work again. */
  readonly writes?: WriteWatch;
  /** Called with runs that ended, once their end is durable. */
  readonly ended?: (digest: Digest) => void;
  /** Called with a run and the bytes it has grown by, every 64 KiB or so. */
  readonly grew?: (run: string, bytes: number) => void;
  /** Minimum distance between commit starts while no writer waits, ms: the longest a delta waits to be batched. */
  readonly pace?: number;
  /** When one run has this many bytes pending, that wait ends early. */
  readonly maxWaiting?: number;
  /** Uncommitted bytes of one run before backpressure sets in. */
  readonly maxUncommitted?: number;
  /** How long a failing engine is retried before its runs fail with `journal_failed`, ms. */
  readonly patience?: number;
}

const op = "journal.append";
const turn = Promise.resolve();
/** Commits start at most this many commit durations apart. */
const maxShare = 8;
/** This many runs waiting justify an immediate commit: its cost per run is then small. */
const fullBatch = 256;
/** Averaging window for the write rate, ms. */
const recent = 50;
/** Shared empty array; never pushed to. */
const none: OwnedLog[] = [];
/** Growth of a run is reported in steps of this many bytes. */
const growth = 64 * 1024;
/** Approximate bytes per transaction; a single run with more exceeds it. */
const maxBatch = 1024 * 1024;

/**
 * Group commit: one transaction in flight for all runs of this process; writes that arrive meanwhile join the next one. Commits start n
 * commit durations apart (at most 8, and at most `pace`), where n is the number of runs writing within `pace`: with more streams more runs
 * share a transaction, while a single run keeps its model's rhythm. The wait is skipped if the engine is idle, a writer awaits a step, a
 * run has `maxWaiting` bytes pending, or 256 runs wait.
 */
export class Committer implements LogOwner {
  readonly clock: Clock;
  readonly clocks: RunClocks;
  readonly maxUncommitted: number;
  readonly #journal: Journal;
  readonly #failed: FailedCommits;
  readonly #listener: CommitListener | undefined;
  readonly #writes: WriteWatch | undefined;
  readonly #ended: CommitterOptions["ended"];
  readonly #grew: CommitterOptions["grew"];
  /** Commit statistics since they were last read; plain fields, because they change with every commit. */
  readonly commits = { count: 0, ms: 0, longestMs: 0 };
  readonly #pace: number;
  readonly #maxWaiting: number;
  #dirty: OwnedLog[] = none;
  /** The commit in flight. */
  #logs: readonly OwnedLog[] = none;
  #batch: readonly Append[] = [];
  #started = 0;
  /** Rate at which runs become ready to commit, per ms. */
  #rate = 0;
  #openLogs = 0;
  readonly #turns = new LargeTurns();
  /** Some log is large; a field, so that it is not recomputed per token. */
  #anyLarge = false;
  #phase: "idle" | "resting" | "scheduled" | "committing" = "idle";
  #urgent = false;
  #restUntil = 0;
  /** The last commit was answered asynchronously: the engine is in another thread or process. */
  #elsewhere = false;
  #wake: (() => void) | undefined;
  /** Owner of the log of a run that nobody follows and that has no effects: it is committed once, at its end. */
  readonly patient: LogOwner;

  constructor(options: CommitterOptions) {
    this.#journal = options.journal;
    this.clock = options.clock ?? systemClock;
    this.clocks = new RunClocks(this.clock);
    this.#listener = options.listener;
    this.#writes = options.writes;
    this.#ended = options.ended;
    this.#grew = options.grew;
    this.#pace = options.pace ?? 8;
    this.#maxWaiting = options.maxWaiting ?? 4096;
    this.maxUncommitted = options.maxUncommitted ?? 1024 * 1024;
    this.#failed = new FailedCommits({
      journal: options.journal,
      clock: this.clock,
      log: options.log ?? silentLog,
      writes: options.writes,
      patience: options.patience ?? 120_000,
      report: (logs, batch, fenced) => this.#report(logs, batch, fenced),
    });
    this.patient = patientOwner(this);
  }

  /** A shadow's judge is not a fork: it may have tools. */
  ownerFor({ shadow, fork }: RunRequest): LogOwner {
    const isReplay = shadow !== undefined && fork?.tools === "recorded" && fork.unanswered === "fail";
    return isReplay ? this.patient : this;
  }

  openLog(ownership: Ownership, tenant = "", owner: LogOwner = this): OwnedLog {
    this.#openLogs += 1;
    const log = new OwnedLog(ownership, owner, this.#listener?.opened(ownership));
    log.tenant = tenant;
    return log;
  }

  /** Stops retrying a failing engine; pending writes fail. */
  close(): void {
    this.#failed.close();
  }

  changed(log: OwnedLog, urgent: boolean): void {
    if (!log.listed) {
      log.listed = true;
      if (this.#dirty.length === 0) this.#dirty = [log];
      else this.#dirty.push(log);
    }
    if (log.waiting > large) this.#anyLarge = true;
    if (urgent || log.waiting >= this.#maxWaiting || this.#dirty.length >= fullBatch) this.#urgent = true;
    if (this.#phase === "idle" || (this.#phase === "resting" && this.#urgent)) this.#schedule();
  }

  closed(log: OwnedLog): void {
    this.#openLogs -= 1;
    this.#listener?.closed(log.ownership);
  }

  #schedule(): void {
    this.#wake?.();
    this.#wake = undefined;
    // Timers have millisecond resolution, so a delay below that is not worth a timer.
    const rest = this.#urgent ? 0 : this.#restUntil - this.clock.monotonic();
    if (rest >= 1) {
      this.#phase = "resting";
      this.#wake = this.clock.after(rest, this.#start);
    } else {
      this.#phase = "scheduled";
      // Starts after the current turn, so that all events of one network read are committed together. An engine elsewhere has costly round
      // trips, so its commit waits for all microtasks too: a run's start and first round are then one commit. For an engine in this process
      // `then` is cheapest; queueMicrotask allocates an AsyncResource.
      if (this.#elsewhere) process.nextTick(this.#start);
      else turn.then(this.#start);
    }
  }

  readonly #start = (): void => {
    this.#wake = undefined;
    this.#phase = "committing";
    this.#urgent = false;
    const logs = this.#dirty;
    this.#dirty = none;
    const next = this.#anyLarge ? this.#turns.next(logs) : undefined;
    this.#anyLarge = false;
    let batch: Append[] = [];
    let open: OwnedLog[] = [];
    let bytes = 0;
    for (const log of logs) {
      if (bytes > maxBatch || (next !== undefined && log !== next && isLarge(log))) {
        this.#anyLarge ||= isLarge(log);
        if (this.#dirty.length === 0) this.#dirty = [log];
        else this.#dirty.push(log);
        this.#urgent = true; // It has already waited for one commit.
        continue;
      }
      log.listed = false;
      if (log.ended) continue;
      bytes += log.waiting;
      log.written += log.waiting;
      if (log.written >= growth) {
        this.#grew?.(log.ownership.run, log.written);
        log.written = 0;
      }
      if (open.length === 0) {
        batch = [log.take()];
        open = [log];
      } else {
        batch.push(log.take());
        open.push(log);
      }
    }
    if (batch.length === 0) return this.#next();
    this.#logs = open;
    this.#batch = batch;
    const now = this.clock.monotonic();
    const since = now - this.#started;
    if (since > 0) this.#rate += (batch.length / since - this.#rate) * Math.min(1, since / recent);
    this.#started = now;
    try {
      const answer = this.#journal.append(batch);
      // An engine in this process answers at once: no promise for each token.
      this.#elsewhere = answer instanceof Promise;
      if (answer instanceof Promise) answer.then(this.#appended, this.#refused);
      else this.#appended(answer);
    } catch (thrown) {
      this.#refused(thrown);
    }
  };

  readonly #appended = (fenced: ReadonlySet<Ownership>): void => {
    const took = this.clock.monotonic() - this.#started;
    // Bounded by the open logs: the commit may have held the last events of its runs, and the rate counts a run once per write.
    const writing = Math.min(this.#rate * this.#pace, this.#openLogs);
    const share = Math.min(Math.max(this.#batch.length, writing), maxShare);
    this.#restUntil = this.#started + Math.min(took * share, this.#pace);
    const { commits } = this;
    commits.count += 1;
    commits.ms += took;
    if (took > commits.longestMs) commits.longestMs = took;
    if (this.#writes?.failing !== undefined) this.#writes.worked();
    this.#report(this.#logs, this.#batch, fenced);
    this.#next();
  };

  readonly #refused = (thrown: unknown): void => {
    this.#failed.retry(this.#logs, this.#batch, thrown).then(this.#next);
  };

  readonly #next = (): void => {
    if (this.#dirty.length > 0) this.#schedule();
    else this.#phase = "idle";
  };

  #report(logs: readonly OwnedLog[], batch: readonly Append[], fenced: ReadonlySet<Ownership>): void {
    for (let index = 0; index < logs.length; index++) {
      const log = logs[index];
      const item = batch[index];
      if (log === undefined || item === undefined) continue;
      if (fenced.has(log.ownership)) {
        log.fail(fencedOff(log.ownership));
        continue;
      }
      if (item.events.length > 0) for (const reader of log.readers) reader.hand(item.events);
      log.committed(item);
      if (item.end !== undefined) this.#ended?.(item.end.digest);
    }
  }
}

export const fencedOff = ({ run, epoch }: Pick<Ownership, "run" | "epoch">): VenturiError =>
  new VenturiError(op, "conflict", "another worker has taken the run over", { details: { fenced: true, run, epoch } });

/** Pending bytes allowed for a run that nobody follows. */
const patientBytes = 64 * 1024;

const patientOwner = (committer: Committer): LogOwner => ({
  clock: committer.clock,
  clocks: committer.clocks,
  maxUncommitted: committer.maxUncommitted,
  onlyEnds: true,
  changed: (log, urgent) => {
    if (urgent || log.waiting >= patientBytes) committer.changed(log, urgent);
  },
  closed: (log) => committer.closed(log),
});
