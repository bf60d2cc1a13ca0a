import { randomUUID } from "node:crypto";
import { type Clock, sleep, systemClock } from "../core/clock.ts";
import { VenturiError, wrap } from "../core/errors.ts";
import type { RunEvent } from "../core/events.ts";
import type { Claim, ClaimFilter, Hint, Journal, Ownership, RunLog, SignalFeed } from "../core/journal.ts";
import { type Log, silentLog } from "../core/log.ts";
import type { Committer } from "./committer.ts";
import { readHistory } from "./history.ts";
import { failedWith } from "./last-words.ts";
import type { OwnedLog } from "./run-log.ts";
import { RunSignals, SignalWatch } from "./signals.ts";
import { StrayLeases } from "./stray-leases.ts";

/** A run while one worker owns it. */
export interface Work {
  readonly claim: Claim;
  /** Everything the run has written so far. */
  readonly history: readonly RunEvent[];
  readonly log: RunLog;
  readonly signals: SignalFeed;
  /**
   * Aborts when this worker has to let go of the run: another has taken it over, the journal gave up, or the worker stops.
   * The run is not over then: stop where you are and write nothing more, the next owner goes on.
   */
  readonly signal: AbortSignal;
}

export interface WorkerOptions {
  readonly journal: Journal;
  readonly committer: Committer;
  /** Ends when the run has its terminal event, is parked, or `signal` aborts. A run left open by it is given back. */
  readonly execute: (work: Work) => Promise<void>;
  /** Unique to this process; made up when absent. */
  readonly name?: string;
  readonly clock?: Clock;
  readonly log?: Log;
  /** Which runs can be worked on here, asked before each claim; any when absent. */
  readonly claims?: () => ClaimFilter;
  /** Most runs at the same time. */
  readonly concurrency?: number;
  /** Told when work on a run begins and ends here, whoever started it. */
  readonly watch?: WorkWatch;
  /** How often it looks for work when no hint comes, ms. */
  readonly poll?: number;
  /** How often it looks for signals when no hint comes, ms. */
  readonly signalPoll?: number;
}

export interface WorkWatch {
  begin(run: string): void;
  end(run: string): void;
}

const mostFailures = 3;

interface Active {
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

/** Claims runs, keeps their leases with one heartbeat for all, and gives back what it cannot finish. */
export class Worker {
  readonly name: string;
  readonly #journal: Journal;
  readonly #committer: Committer;
  readonly #execute: (work: Work) => Promise<void>;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #concurrency: number;
  readonly #poll: number;
  readonly #signalPoll: number;
  readonly #watch: WorkWatch | undefined;
  readonly #claims: (() => ClaimFilter) | undefined;
  readonly #active = new Map<string, Active>();
  readonly #signals: SignalWatch;
  readonly #holdings: StrayLeases;
  readonly #stopping = new AbortController();
  readonly #timers = new Map<string, () => void>();
  #stopHints: (() => void) | undefined;
  /** Runs that failed here in a way nobody foresaw, and how often. */
  readonly #failures = new Map<string, number>();
  #beats = 0;
  #claiming = false;
  #claimAgain = false;
  #resting = false;

  constructor(options: WorkerOptions) {
    this.name = options.name ?? `${process.pid}-${randomUUID()}`;
    this.#journal = options.journal;
    this.#committer = options.committer;
    this.#execute = options.execute;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log ?? silentLog;
    this.#concurrency = options.concurrency ?? 2_000;
    this.#watch = options.watch;
    this.#claims = options.claims;
    this.#poll = options.poll ?? 1_000;
    this.#signalPoll = options.signalPoll ?? 500;
    this.#signals = new SignalWatch(options.journal);
    this.#holdings = new StrayLeases(options.journal, this.name, (ownership) => this.#active.has(keyOf(ownership)));
  }

  /** How many more runs it can take. */
  get room(): number {
    return this.#resting || this.#stopping.signal.aborted ? 0 : Math.max(0, this.#concurrency - this.#active.size);
  }

  get active(): number {
    return this.#active.size;
  }

  /** Resolves when the first heartbeat is in. A journal that is down now is no reason not to start: it is tried again. */
  async start(): Promise<void> {
    await this.#beat();
    this.#stopHints = this.#journal.onHint((hint) => this.#onHint(hint), "control");
    this.#every("heartbeat", this.#journal.lease / 3, () => this.#beat());
    this.#every("claim", this.#poll, () => this.#claim());
    this.#every("signals", this.#signalPoll, () => this.#signals.lookAtAll());
    this.#claim();
  }

  /** Takes no more work; what is under way goes on. */
  rest(): void {
    this.#resting = true;
  }

  /** Takes a run that was claimed for this worker, such as by `enqueue`. */
  offer(claim: Claim): void {
    if (this.#stopping.signal.aborted) {
      this.#holdings.release(claim.ownership);
      return;
    }
    const { run, epoch } = claim.ownership;
    if (epoch > 1) this.#log.info("run taken over", { run, epoch, worker: this.name });
    const controller = new AbortController();
    this.#watch?.begin(claim.ownership.run);
    const done = this.#work(claim, controller).finally(() => {
      this.#active.delete(keyOf(claim.ownership));
      this.#watch?.end(claim.ownership.run);
      if (this.#claimAgain && this.room > 0) this.#claim();
    });
    this.#active.set(keyOf(claim.ownership), { controller, done });
  }

  /** Takes no more work, lets go of the runs under way and gives them back. */
  async stop(): Promise<void> {
    this.#stopping.abort(new VenturiError("worker.stop", "shutting_down", "the service is stopping"));
    this.#stopHints?.();
    for (const stop of this.#timers.values()) stop();
    this.#timers.clear();
    const under = [...this.#active.values()];
    for (const active of under) active.controller.abort(this.#stopping.signal.reason);
    await Promise.all(under.map((active) => active.done));
    await this.#holdings.settle();
  }

  async #work(claim: Claim, controller: AbortController): Promise<void> {
    const log = this.#committer.openLog(claim.ownership);
    const release = () => controller.abort(log.signal.reason);
    log.signal.addEventListener("abort", release, { once: true });
    const feed = new RunSignals(claim.ownership.run, []);
    try {
      if (claim.unreadable) throw claim.unreadable;
      const known =
        claim.signals > 0 ? await this.#patiently(() => this.#journal.signals(feed.run, 0), controller.signal) : [];
      const history = await this.#patiently(() => readHistory(this.#journal, claim.ownership), controller.signal);
      feed.add(known);
      this.#signals.add(feed);
      await this.#execute({ claim, history, log, signals: feed, signal: controller.signal });
      this.#failures.delete(claim.ownership.run);
    } catch (thrown) {
      if (controller.signal.aborted || !this.#isFinal(claim, thrown))
        this.#report(claim.ownership, thrown, controller.signal);
      else this.#endRun(claim, log, wrap("worker.execute", thrown));
    } finally {
      this.#signals.remove(feed);
      log.signal.removeEventListener("abort", release);
      await this.#letGo(log);
    }
  }

  /** A run that is still owned goes back with everything it wrote; one that failed is given back if it is still ours. */
  async #letGo(log: OwnedLog): Promise<void> {
    try {
      await log.flush();
    } catch {
      // fenced or given up: what was not committed is lost with the ownership, as intended
    }
    const finished = log.ended && !log.signal.aborted;
    log.abandon();
    if (finished) return;
    await this.#cool();
    await this.#holdings.release(log.ownership);
  }

  /** A run that fails at once would otherwise be claimed, failed and given back as fast as the processor can. */
  async #cool(): Promise<void> {
    if (!this.#stopping.signal.aborted) await sleep(this.#clock, this.#poll, this.#stopping.signal).catch(() => {});
  }

  #report(ownership: Ownership, thrown: unknown, signal: AbortSignal): void {
    const error = wrap("worker.execute", thrown);
    const fields = { run: ownership.run, epoch: ownership.epoch, code: error.code, error: error.message };
    if (signal.aborted) this.#log.info("a run was let go of", fields);
    else this.#log.error("a run could not be worked on; it is given back", fields);
  }

  /** Whether trying again would end the same way. What nobody foresaw is tried again a few times. */
  #isFinal({ ownership }: Claim, thrown: unknown): boolean {
    if (VenturiError.isInstance(thrown) && thrown.code !== "internal") return !thrown.retryable;
    const failures = (this.#failures.get(ownership.run) ?? 0) + 1;
    this.#failures.set(ownership.run, failures);
    return failures >= mostFailures;
  }

  /** Ends a run that cannot be worked on: given back, it would be claimed and fail again for ever. */
  #endRun(claim: Claim, log: OwnedLog, error: VenturiError): void {
    const { run, head } = claim.ownership;
    this.#failures.delete(run);
    this.#log.error("a run cannot be worked on; it is ended", { run, code: error.code, error: error.message });
    if (head === 0 && log.head === 0) log.write({ type: "run.started", agent: claim.request.agent, input: {} });
    log.write(failedWith(error));
  }

  async #patiently<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (let wait = 50; ; wait = Math.min(2_000, wait * 2)) {
      try {
        return await ask();
      } catch (thrown) {
        const error = wrap("worker.execute", thrown);
        if (error.code !== "journal_failed") throw error;
      }
      await sleep(this.#clock, wait, signal);
    }
  }

  #onHint(hint: Hint): void {
    if (hint.work) this.#claim();
    this.#signals.onHint(hint);
  }

  async #beat(): Promise<void> {
    try {
      await this.#journal.heartbeat(this.name);
    } catch (thrown) {
      this.#log.warn("the heartbeat failed; trying again", { error: wrap("worker.heartbeat", thrown).message });
      return;
    }
    await this.#holdings.settle();
    // Once a lease: what it looks for is rare, and it asks for every run.
    if (++this.#beats % 3 === 0) await this.#holdings.reconcile();
  }

  #claim(): void {
    this.#claimAgain = true;
    if (this.#claiming || this.room === 0) return;
    this.#claimAgain = false;
    this.#claiming = true;
    const limit = Math.min(this.room, 64);
    this.#journal
      .claim(this.name, limit, this.#claims?.())
      .then(
        (claims) => {
          for (const claim of claims) this.offer(claim);
          if (claims.length === limit) this.#claimAgain = true;
        },
        (thrown) => this.#log.warn("claiming failed", { error: wrap("worker.claim", thrown).message }),
      )
      .finally(() => {
        this.#claiming = false;
        if (this.#claimAgain) this.#claim();
      });
  }

  #every(name: string, ms: number, action: () => void): void {
    this.#timers.set(
      name,
      this.#clock.after(ms, () => {
        this.#every(name, ms, action);
        action();
      }),
    );
  }
}

const keyOf = (ownership: Ownership): string => `${ownership.run} ${ownership.epoch}`;
