import { randomUUID } from "node:crypto";
import { VenturiError, wrap } from "../core/errors/errors.ts";
import type { Claim, ClaimFilter, Hint, Journal, Ownership } from "../core/journal/journal.ts";
import { Billing } from "../core/journal/money.ts";
import type { PriceOf } from "../core/model/prices.ts";
import { type Clock, sleep, systemClock } from "../core/ports/clock.ts";
import { type Log, silentLog } from "../core/ports/log.ts";
import { DigestFold } from "../core/run/digest.ts";
import type { RunEvent } from "../core/run/events.ts";
import { doingFor } from "../core/values/doing.ts";
import { ActiveRuns } from "./active-runs.ts";
import type { Committer } from "./committer.ts";
import { type Attempts, attemptsOf, refuseCrashing, SuspectStarts } from "./crashes.ts";
import { Failures } from "./failures.ts";
import { readHistory } from "./history.ts";
import { refuseNewer } from "./known-events.ts";
import { retry } from "./retry.ts";
import type { OwnedLog } from "./run-log.ts";
import { RunSignalFeed, SignalWatch } from "./signals.ts";
import { StartTurns } from "./start-turns.ts";
import { StrayLeases } from "./stray-leases.ts";
import type { Work, WorkerOptions, WorkWatch } from "./work.ts";

/** Maximum number of runs per claim. */
const mostAtOnce = 64;

/** A name that no other process ever has. */
export const newWorkerName = (pid = process.pid): string => `${pid}-${randomUUID()}`;

/** Claims runs, renews all leases with one heartbeat, and releases what it cannot finish. */
export class Worker {
  readonly name: string;
  readonly #journal: Journal;
  readonly #committer: Committer;
  readonly #execute: (work: Work) => Promise<void>;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #poll: number;
  readonly #signalPoll: number;
  readonly #watch: WorkWatch | undefined;
  readonly #fitting: (() => number) | undefined;
  readonly #claims: (() => ClaimFilter) | undefined;
  readonly #prices: (() => PriceOf) | undefined;
  readonly #active: ActiveRuns;
  readonly #signals: SignalWatch;
  readonly #turns: StartTurns;
  readonly #suspects: SuspectStarts;
  readonly #strayLeases: StrayLeases;
  readonly #stopping = new AbortController();
  readonly #timers = new Map<string, () => void>();
  #stopHints: (() => void) | undefined;
  readonly #failures: Failures;
  #beatAt = Number.POSITIVE_INFINITY;
  #claimFrom = Number.NEGATIVE_INFINITY;
  #beats = 0;
  /** Settles, never rejecting, when the claim under way has been dealt with. */
  #claiming: Promise<void> | undefined;
  #claimAgain = false;
  /** Memory was full; claim again when a run ends. */
  #claimLater = false;
  #resting = false;

  constructor(options: WorkerOptions) {
    this.name = options.name ?? newWorkerName();
    this.#journal = options.journal;
    this.#committer = options.committer;
    this.#execute = options.execute;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log ?? silentLog;
    this.#active = new ActiveRuns(options.concurrency ?? 2_000);
    this.#watch = options.watch;
    this.#fitting = options.fitting;
    this.#claims = options.claims;
    this.#prices = options.prices;
    this.#poll = options.poll ?? 1_000;
    this.#signalPoll = options.signalPoll ?? 500;
    this.#failures = new Failures(this.#log);
    this.#turns = new StartTurns(this.#clock);
    this.#suspects = new SuspectStarts(this.#clock);
    this.#signals = new SignalWatch(options.journal);
    this.#strayLeases = new StrayLeases(options.journal, this.name, (ownership) => this.#active.has(ownership));
  }

  /** Number of free slots. */
  get room(): number {
    return this.#resting || this.#stopping.signal.aborted ? 0 : this.#active.room;
  }

  get active(): number {
    return this.#active.size;
  }

  /** Keeps a place for a run that is claimed for this worker as it is stored; call the returned function once it was offered, or not. */
  reserve(): () => void {
    const release = this.#active.reserve(1);
    return () => {
      release();
      if (this.#claimAgain && this.room > 0) this.#claim();
    };
  }

  /** Resolves after the first heartbeat. Starts even if the journal is down, and retries. */
  async start(): Promise<void> {
    this.#beatAt = this.#clock.monotonic();
    await this.#beat();
    this.#stopHints = this.#journal.onHint((hint) => this.#onHint(hint), "control");
    this.#every("heartbeat", this.#journal.lease / 3, () => this.#beat());
    this.#every("claim", this.#poll, () => this.#claim());
    this.#every("signals", this.#signalPoll, () => this.#signals.lookAtAll());
    this.#claim();
  }

  /** Claims now, without waiting for the next poll. */
  look(): void {
    this.#claim();
  }

  /** Stops claiming; running work continues. */
  rest(): void {
    this.#resting = true;
  }

  /** Whether the claim arrived too late: its lease was released as idle, or the run executes here under a newer one. */
  isVoid({ ownership }: Claim): boolean {
    return this.#active.isCovered(ownership) || this.#strayLeases.hasReleased(ownership);
  }

  /** Takes a run already claimed for this worker, for example by `enqueue`. `copied`: events of a fork that are not stored yet. */
  offer(claim: Claim, copied?: readonly RunEvent[]): void {
    if (this.isVoid(claim)) return;
    if (this.#stopping.signal.aborted) {
      this.#strayLeases.release(claim.ownership);
      return;
    }
    const { ownership, tenant } = claim;
    const { run } = ownership;
    this.#watch?.begin(claim);
    const work = (controller: AbortController) =>
      doingFor({ run, tenant }, () => this.#work(claim, controller, copied));
    this.#active.begin(ownership, work, () => {
      this.#watch?.end(run);
      if ((this.#claimAgain || this.#claimLater) && this.room > 0) this.#claim();
    });
  }

  /** Stops claiming, and interrupts and releases the running runs. */
  async stop(): Promise<void> {
    this.#stopping.abort(new VenturiError("worker.stop", "shutting_down", "the service is stopping"));
    this.#stopHints?.();
    for (const stop of this.#timers.values()) stop();
    this.#timers.clear();
    await this.#active.stop(this.#stopping.signal.reason);
    await this.#claiming; // Its runs are released while the journal is still open.
    await this.#strayLeases.retryReleases();
  }

  async #work(claim: Claim, controller: AbortController, copied?: readonly RunEvent[]): Promise<void> {
    const log = this.#committer.openLog(claim.ownership, claim.tenant, this.#committer.ownerFor(claim.request));
    const release = () => controller.abort(log.signal.reason);
    log.signal.addEventListener("abort", release, { once: true });
    const digest = new DigestFold(claim.ownership.run, claim.request, this.#prices?.());
    log.digest = digest;
    const billing = new Billing(claim);
    // An earlier owner may hold a reservation, and the run may end here before it is executed.
    if (claim.ownership.epoch > 1) billing.useAccounts();
    log.billing = billing;
    const feed = new RunSignalFeed(claim.ownership.run, []);
    // Aborts when this worker is done with the run for any reason.
    let over: AbortController | undefined;
    let history: readonly RunEvent[] = [];
    try {
      if (claim.unreadable) throw claim.unreadable;
      const turn = this.#turns.take();
      if (turn !== undefined) await turn;
      const known =
        claim.signals > 0 ? await this.#patiently(() => this.#journal.signals(feed.run, 0), controller.signal) : [];
      const stored = () => this.#patiently(() => readHistory(this.#journal, claim.ownership), controller.signal);
      history = copied ?? (await stored());
      if (copied !== undefined) log.adopt(copied);
      for (const event of history) digest.add(event);
      const last = history.at(-1);
      if (last !== undefined) log.follow(last.at);
      refuseNewer(feed.run, history);
      if (claim.ownership.epoch > 1) {
        over = new AbortController();
        controller.signal.addEventListener("abort", () => over?.abort(), { once: true });
        await this.#mindCrashes(claim.ownership, attemptsOf(history, known), over.signal);
      }
      // The lease was lost meanwhile: a newer execution here has the run's signals.
      controller.signal.throwIfAborted();
      feed.add(known);
      this.#signals.add(feed);
      await this.#execute({ claim, history, log, digest, billing, signals: feed, signal: controller.signal });
      this.#failures.forget(claim.ownership.run);
    } catch (thrown) {
      this.#failures.handle(thrown, { claim, history, log, signal: controller.signal });
    } finally {
      over?.abort();
      this.#signals.remove(feed);
      log.signal.removeEventListener("abort", release);
      await this.#letGo(log);
    }
  }

  async #mindCrashes({ run, epoch }: Ownership, attempts: Attempts, over: AbortSignal): Promise<void> {
    if (!attempts.parked) this.#log.info("run taken over", { run, epoch, worker: this.name });
    refuseCrashing(run, attempts);
    await this.#suspects.take(attempts, over);
  }

  /** Flushes and releases a run that is still owned; a failed one is released if the lease is still ours. */
  async #letGo(log: OwnedLog): Promise<void> {
    try {
      await log.flush();
    } catch {
      // Fenced or given up: uncommitted events are lost with the ownership, as intended.
    }
    const finished = log.ended && !log.signal.aborted;
    log.abandon();
    if (finished) return;
    await this.#cool();
    await this.#strayLeases.release(log.ownership);
  }

  /** Backoff: a run that fails immediately would otherwise be claimed, failed and released in a busy loop. */
  async #cool(): Promise<void> {
    await sleep(this.#clock, this.#poll, this.#stopping.signal).catch(() => {}); // Rejects at once when the worker stops.
  }

  #patiently<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return retry(ask, { op: "worker.execute", clock: this.#clock, signal: () => signal });
  }

  #onHint(hint: Hint): void {
    if (hint.work) this.#claim();
    this.#signals.onHint(hint);
  }

  async #beat(): Promise<void> {
    try {
      await this.#journal.heartbeat(this.name);
    } catch (thrown) {
      this.#log.warn("heartbeat failed; retrying", { error: wrap("worker.heartbeat", thrown).message });
      return;
    }
    const now = this.#clock.monotonic();
    // The others could not renew their leases either, and do so within a third of one.
    if (this.#isLate) this.#claimFrom = now + this.#journal.lease / 2;
    this.#beatAt = now;
    await this.#strayLeases.retryReleases();
    // Once per lease: stray leases are rare, and the check lists every run held.
    if (++this.#beats % 3 === 0) await this.#strayLeases.reconcile();
  }

  /** This worker has missed a heartbeat, so a lease that has run out does not tell that its owner is dead. */
  get #isLate(): boolean {
    return this.#clock.monotonic() - this.#beatAt > this.#journal.lease * 0.7;
  }

  #claim(): void {
    if (this.#isLate || this.#clock.monotonic() < this.#claimFrom) return; // The next poll asks again.
    this.#claimAgain = true;
    if (this.#claiming !== undefined || this.room === 0) return;
    this.#claimAgain = false;
    this.#claimLater = false;
    // At least one while nothing runs; otherwise the end of a run triggers the next claim.
    const fitting = Math.max(this.#fitting?.() ?? mostAtOnce, this.#active.size === 0 ? 1 : 0);
    const limit = Math.min(this.room, mostAtOnce, fitting);
    if (limit === 0) {
      this.#claimLater = true;
      return;
    }
    const release = this.#active.reserve(limit);
    this.#claiming = this.#journal
      .claim(this.name, limit, this.#claims?.())
      .then(
        (claims) => {
          for (const claim of claims) this.offer(claim);
          if (claims.length === limit) this.#claimAgain = true;
        },
        (thrown) => this.#log.warn("claiming failed", { error: wrap("worker.claim", thrown).message }),
      )
      .finally(() => {
        release();
        this.#claiming = undefined;
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
