import { VenturiError } from "../../core/errors/errors.ts";
import type { Claim, ClaimFilter, Journal } from "../../core/journal/journal.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { type Charge, inputWeight, type Memory } from "../../core/ports/held.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Doing, StartOptions } from "../../core/ports/runs.ts";
import type { Telemetry } from "../../core/ports/telemetry.ts";
import type { RunEvent } from "../../core/run/events.ts";
import { timeOfRunId } from "../../core/run/run-id.ts";
import type { RunRequest } from "../../core/run/run-request.ts";
import { forgetKept } from "../../core/values/keep-one.ts";
import { token } from "../../core/values/token.ts";
import { valueSize } from "../../core/values/value-size.ts";
import { Committer } from "../../journal/committer.ts";
import type { Followers } from "../../journal/followers.ts";
import type { Work } from "../../journal/work.ts";
import { Worker } from "../../journal/worker.ts";
import type { WriteWatch } from "../../journal/write-watch.ts";
import type { Admission } from "../access/admission.ts";
import type { LimitSettings } from "../config/server.ts";
import { Figures } from "../inspect/figures.ts";
import type { Revisions } from "../revisions/revisions.ts";
import { BackpressureGate, PacedLog } from "./backpressure.ts";
import { existingRun } from "./existing-run.ts";
import type { Feed } from "./feed.ts";
import { PausedAgents } from "./paused-agents.ts";
import { type RunWatcher, WatchedLog } from "./run-watcher.ts";

/** After a run that held more than this, `forgetKept` drops what would keep its request alive, bytes. */
const large = 1024 * 1024;

/** Name of this process's worker in the journal. */
export const WorkerName = token<string>("WorkerName");

/** Which runs of the journal this process takes over: those of its agents, only of the same agent revisions, or only its own. */
export type TakeUp = "any" | "same" | "none";
export const TakeUp = token<TakeUp>("TakeUp");

interface ExecutorDeps {
  readonly name: string;
  /** Already instrumented. */
  readonly journal: Journal;
  readonly revisions: Revisions;
  readonly admission: Admission;
  readonly followers: Followers;
  readonly feed: Feed;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly log: Log;
  readonly takeUp: TakeUp;
  readonly concurrency: number;
  readonly memory: Memory;
  readonly writes: WriteWatch;
  /** Largest body of a request. */
  readonly body: number;
}

export interface Owner {
  readonly tenant: string;
  readonly caller: RunRequest["caller"] | undefined;
  readonly user: string | undefined;
  readonly shadow: string | undefined;
}

interface Executing {
  readonly owner: Owner;
  doing: () => Doing | undefined;
}

/** Executes the runs this process claims, each on the revision current at that time. */
export class Executor {
  /** Counts since they were last read. */
  readonly figures: Figures;
  readonly paused: PausedAgents;
  readonly #deps: ExecutorDeps;
  readonly #committer: Committer;
  readonly #worker: Worker;
  readonly #gates = new Map<string, BackpressureGate>();
  /** The newest execution of each run here: one that lost its lease may still be ending when the next has begun. */
  readonly #executing = new Map<string, Executing>();
  /** Memory held by the runs executing here. */
  readonly #held = new Map<string, Charge>();
  /** Unfinished runs started here, and their agents; tracked only by a process that takes over no others. */
  readonly #started = new Map<string, string>();
  readonly #interrupt = new AbortController();
  watcher: RunWatcher | undefined;

  constructor(deps: ExecutorDeps) {
    this.#deps = deps;
    const { name, journal, clock, log, followers, concurrency, memory } = deps;
    this.#committer = new Committer({
      journal,
      clock,
      log,
      listener: followers,
      writes: deps.writes,
      ended: (digest) => {
        if (this.ownerOf(digest.run)?.shadow === undefined) this.figures.ended(digest);
      },
      grew: (run, bytes) => this.#held.get(run)?.add(bytes),
    });
    this.figures = new Figures(this.#committer.commits);
    this.paused = new PausedAgents(deps, () => this.#worker.look());
    this.#worker = new Worker({
      name,
      journal,
      committer: this.#committer,
      clock,
      log,
      concurrency,
      watch: { begin: (claim) => this.#begin(claim), end: (run) => this.#end(run) },
      fitting: () => Math.max(0, Math.floor(memory.free / (deps.body * inputWeight))),
      claims: () => this.#claims(),
      prices: () => deps.revisions.current.priceOf,
      execute: (work) => this.#execute(work),
    });
  }

  /** Starts claiming work once the paused agents are known. */
  async open(): Promise<void> {
    await this.paused.read();
    await this.#worker.start();
  }

  get active(): number {
    return this.#worker.active;
  }

  /** The worker to claim a new run for, if this process may execute it at once. `release` its place once the run was offered, or not. */
  claimant({ agent, parent }: RunRequest): { readonly worker: string; readonly release: () => void } | undefined {
    if (this.#waits(agent)) return undefined;
    const worker = this.#worker.name;
    // A sub-run needs no free slot: its waiting parent might hold the last one forever.
    if (this.#executing.has(parent?.run ?? "")) return { worker, release: () => {} };
    return this.#worker.room > 0 ? { worker, release: this.#worker.reserve() } : undefined;
  }

  /** Called when this process has stored a run. */
  started(run: string, agent: string, { paced }: StartOptions): void {
    this.#committer.clocks.offsetOf(run);
    if (this.#deps.takeUp === "none") this.#started.set(run, agent);
    if (paced) this.#gates.set(run, new BackpressureGate());
  }

  /** Claims what is ready now: engines announce no restored runs, and the next poll may be a second away. */
  look(): void {
    this.#worker.look();
  }

  /**
   * Executes a run that was claimed when stored. `held`: memory of its request, charged to the run until it ends here. `copied`: see
   * `Worker.offer`.
   */
  offer(claim: Claim, held: Charge | undefined, copied?: readonly RunEvent[]): void {
    if (this.#worker.isVoid(claim)) return held?.release();
    if (held !== undefined) this.#held.set(claim.ownership.run, held);
    this.#worker.offer(claim, copied);
  }

  #begin({ ownership: { run }, tenant, request }: Claim): void {
    this.#deps.admission.begin(run);
    if (this.#held.has(run)) return;
    this.#held.set(run, this.#deps.memory.of(tenant).hold(valueSize(request) * inputWeight, "run"));
  }

  #end(run: string): void {
    const held = this.#held.get(run);
    if (held !== undefined && held.bytes > large) forgetKept();
    held?.release();
    this.#held.delete(run);
    this.#deps.admission.end(run);
  }

  /** The owner of a run, if it executes here. */
  ownerOf(run: string): Owner | undefined {
    return this.#executing.get(run)?.owner;
  }

  /** The run's own clock, see `RunClocks`. */
  now(run: string): number {
    return this.#committer.clocks.now(run);
  }

  /** What a run executing here waits for, where its events do not show it. */
  doing(run: string): Doing | undefined {
    return this.#executing.get(run)?.doing();
  }

  /** The gate of a paced run without a reader yet, and a function that removes it. */
  gateOf(run: string, channel?: string): { gate: BackpressureGate; remove: () => void } | undefined {
    const gate = this.#gates.get(run);
    return gate?.take(channel) ? { gate, remove: () => this.#gates.delete(run) } : undefined;
  }

  /** The runs of the journal that this process may execute. */
  #claims(): ClaimFilter {
    const { takeUp, revisions } = this.#deps;
    if (takeUp === "none") {
      const own = [...this.#started].filter(([, agent]) => !this.#waits(agent));
      return { agents: [], runs: own.map(([run]) => run) };
    }
    const agents = [...revisions.current.agents.values()].filter(({ name }) => !this.#waits(name));
    const names = { agents: agents.map(({ name }) => name) };
    return takeUp === "any" ? names : { ...names, revisions: agents.map(({ revision }) => revision) };
  }

  #waits(agent: string): boolean {
    return this.paused.of(agent) !== undefined || !this.paused.known;
  }

  async #execute(work: Work): Promise<void> {
    const { claim, history } = work;
    const { telemetry, revisions, feed, journal } = this.#deps;
    const { run } = claim.ownership;
    if (history.length > 0) this.#held.get(run)?.add(valueSize(history));
    const lease = revisions.acquire();
    const gate = this.#gates.get(run);
    if (gate !== undefined) gate.parked = false;
    const { shadow } = claim.request;
    // Shadows do not appear in the live feed.
    const leaveFeed = shadow === undefined ? feed.began(claim, work.digest) : () => {};
    const saw = this.watcher?.began(claim, history);
    const { tenant, request } = claim;
    const owner = { tenant, caller: request.caller, user: request.user, shadow };
    const executing: Executing = { owner, doing: () => undefined };
    this.#executing.set(run, executing);
    try {
      const plain = saw === undefined ? work.log : new WatchedLog(work.log, saw);
      const measured = shadow === undefined ? telemetry.runLog(plain, claim, history) : plain;
      const log = gate === undefined ? measured : new PacedLog(measured, gate);
      const pipeline = lease.revision.pipelines.open({
        claim,
        log,
        history,
        billing: work.billing,
        signals: work.signals,
        release: work.signal,
        interrupt: this.#interrupt.signal,
        now: () => this.now(run),
        agentPause: () => this.paused.of(claim.request.agent),
        queuedPaused: () => this.#queuedPaused(claim),
        live: (doing) => {
          executing.doing = doing;
        },
        ...(gate === undefined ? {} : { gate: () => gate.gate(), reader: () => gate.reader }),
      });
      await pipeline.run();
      if (this.#started.has(run) && (await existingRun(journal, run)).state === "done") this.#started.delete(run);
    } finally {
      leaveFeed();
      lease.release();
      if (this.#executing.get(run) === executing) {
        this.#executing.delete(run);
        if (!gate?.parked) this.#gates.delete(run);
        this.watcher?.left(run);
      }
    }
  }

  #queuedPaused({ ownership: { run }, request }: Claim): { readonly ago: number; readonly ms: number } | undefined {
    const now = this.now(run);
    const pause = this.paused.overlap(request.agent, timeOfRunId(run) ?? now, now);
    return pause && { ago: now - pause.from, ms: pause.ms };
  }

  /** Stops claiming, and gives executing runs `ms` to end. */
  async drain(ms: number, afterDrain: LimitSettings["afterDrain"]): Promise<void> {
    this.#worker.rest();
    const { clock, followers } = this.#deps;
    await this.#idle(clock.monotonic() + ms);
    if (this.#worker.active === 0) return;
    if (afterDrain === "release") {
      await this.#worker.stop();
      // Their streams continue in another process.
      followers.cut(new VenturiError("run.follow", "shutting_down", "the service stopped before the run was done"));
      return;
    }
    this.#interrupt.abort(
      new VenturiError("run.drain", "shutting_down", "the service stopped before the run was done"),
    );
    await this.#idle(clock.monotonic() + 5_000);
  }

  async close(): Promise<void> {
    await this.#worker.stop();
    this.#deps.followers.close();
    this.#committer.close();
    forgetKept();
  }

  /** Resolves when nothing is running, or at the deadline. */
  async #idle(until: number): Promise<void> {
    const { clock } = this.#deps;
    while (this.#worker.active > 0 && clock.monotonic() < until) {
      await new Promise<void>((resolve) => clock.after(20, resolve));
    }
  }
}
