import type { BacklogRow } from "venturi/plugin";
import { Catalog, inListOrder, inOrder, type WalkOptions } from "./catalog.ts";
import type { Known } from "./known.ts";
import { within } from "./names.ts";
import { type Origin, originOf, standingOf } from "./standing.ts";

/** Kinds of messages that change a run's state. Each has its own consumer, so order is guaranteed only within a kind. */
export const kinds = ["q", "x", "s"] as const;
export type ChangeKind = (typeof kinds)[number];

/** Changes kept until the run's request arrives, which is never far behind. */
const earlyLimit = 10_000;

/** A state change, delivered by a stream or just written by this process. */
export interface Seen {
  readonly run: string;
  readonly shard: number;
  readonly kind: ChangeKind;
  readonly seq: number;
  readonly time: number;
  /** The headers `V` and, for a request, `Q`. */
  readonly standing: string;
  readonly origin?: string | undefined;
  /** Its time comes from the engine. */
  readonly delivered?: true;
  /** Read on request: may not be a state change, and then it is never delivered. */
  readonly asked?: true;
}

/** Runs derived from their state changes: what can be claimed and listed. */
export class View {
  readonly #runs: Catalog;
  readonly #ready = new Map<string, Known>();
  readonly #running = new Map<string, Map<string, Known>>();
  /** Running and parked runs per tenant and session. */
  readonly #busy = new Map<string, number>();
  readonly #waiting = new Map<string, Known>();
  readonly #sleeping = new Map<string, Known>();
  readonly #texts = new Map<string, string>();
  readonly #changed: (known: Known, kind: string) => void;
  /** By shard and kind, the last sequence applied, whether delivered or written here. */
  readonly #applied: Record<ChangeKind, number>[];
  /** The last change of runs whose request has not been delivered yet. */
  readonly #early = new Map<string, Seen>();

  constructor(shards: number, changed: (known: Known, kind: string) => void) {
    this.#runs = new Catalog(shards);
    this.#applied = Array.from({ length: shards }, () => ({ q: 0, x: 0, s: 0 }));
    this.#changed = changed;
  }

  /** The last sequence applied, of one kind or of all. */
  applied(shard: number, kind?: ChangeKind): number {
    const of = this.#applied[shard];
    if (!of) return 0;
    return kind ? of[kind] : Math.max(of.q, of.x, of.s);
  }

  get(run: string): Known | undefined {
    return this.#runs.get(run);
  }

  /** Matching runs, possibly with a few false positives. */
  walk(options: WalkOptions): Generator<Known> {
    return this.#runs.walk(options);
  }

  /** Only unfinished runs, for which the view is complete without the history. */
  walkOpen(options: WalkOptions): Known[] {
    return inListOrder(this.open(), options);
  }

  /** Claimable runs, in order. */
  ready(): Known[] {
    return [...this.#ready.values()].sort(inOrder);
  }

  /** Whether another run of its session is running or parked. */
  isBusy({ tenant, session }: Known): boolean {
    return session !== undefined && this.#busy.has(within(tenant, session));
  }

  heldBy(worker: string): Known[] {
    return [...(this.#running.get(worker)?.values() ?? [])].sort(inOrder);
  }

  /** Parked runs with a wake-up time. */
  sleeping(): Known[] {
    return [...this.#sleeping.values()];
  }

  /** Workers that own runs. */
  workers(): string[] {
    return [...this.#running.keys()];
  }

  /** Number of unfinished runs. */
  get openCount(): number {
    let count = this.#ready.size + this.#waiting.size;
    for (const runs of this.#running.values()) count += runs.size;
    return count;
  }

  /** Unfinished runs by agent and state. Questions are not counted, since those of called agents would count several times. */
  backlog(): BacklogRow[] {
    const rows = new Map<string, { agent: string; state: BacklogRow["state"]; runs: number }>();
    for (const { agent, state } of this.open()) {
      if (state === "done") continue;
      const key = `${state} ${agent}`;
      const row = rows.get(key) ?? { agent, state, runs: 0 };
      row.runs += 1;
      rows.set(key, row);
    }
    return [...rows.values()];
  }

  /** Unfinished runs. */
  *open(): Generator<Known> {
    yield* this.#ready.values();
    yield* this.#waiting.values();
    for (const runs of this.#running.values()) yield* runs.values();
  }

  apply(seen: Seen): void {
    const { run, seq, shard, kind } = seen;
    const applied = this.#applied[shard];
    if (applied && !seen.asked) applied[kind] = Math.max(applied[kind], seq);
    const before = this.#runs.get(run);
    if (before && before.seq >= seq) {
      this.#correct(before, seen);
      // It came after a later change of another kind, so those waiting for signals have not been told.
      if (kind === "s" && before.seq !== seq) this.#changed(before, kind);
      return;
    }
    const origin = this.#originOf(seen, before);
    if (!origin) this.#keepEarly(seen);
    if (!origin || origin.void) return;
    const known = this.#knownOf(seen, origin);
    this.keep(known);
    this.#changed(known, kind);
    const early = this.#early.get(run);
    if (!early) return;
    this.#early.delete(run);
    if (kind === "q") this.apply(early);
  }

  /** Runs of one shard that have ended, by sequence: each its request and the standing after its last change. */
  keepEnded(ended: readonly (readonly [request: Seen, last: Seen])[]): void {
    const block: Known[] = [];
    for (const [request, last] of ended) {
      const origin = this.#originOf(request, undefined);
      if (origin && !origin.void && !this.#runs.get(request.run)) block.push(this.#knownOf(last, origin));
    }
    this.#runs.insert(block);
  }

  keep(known: Known): void {
    const before = this.#runs.get(known.run);
    if (before) this.#leave(before);
    this.#runs.set(known);
    this.#enter(known);
  }

  forget(run: string): void {
    const known = this.#runs.get(run);
    if (!known) return;
    this.#leave(known);
    this.#runs.delete(run);
  }

  #keepEarly(seen: Seen): void {
    if ((this.#early.get(seen.run)?.seq ?? 0) >= seen.seq) return;
    this.#early.delete(seen.run);
    this.#early.set(seen.run, seen);
    if (this.#early.size <= earlyLimit) return;
    for (const oldest of this.#early.keys()) {
      this.#early.delete(oldest);
      return;
    }
  }

  /** This process's own writes are usually applied before the stream delivers their time. */
  #correct(before: Known, { seq, time, delivered }: Seen): void {
    if (!delivered || (before.seq !== seq && before.place !== seq)) return;
    const created = before.place === seq ? time : before.created;
    this.keep({ ...before, created, time: before.seq === seq ? time : before.time });
  }

  #knownOf({ run, shard, seq, time, standing }: Seen, origin: Origin & { created: number; place: number }): Known {
    const { agent, tenant, revision, session, key, caller, created, place } = origin;
    const { epoch, head, state, signals, cancelled, outcome, worker, asking, wake } = standingOf(standing);
    // Written out: an object literal with a spread takes twice the memory.
    return {
      run,
      shard,
      agent,
      tenant,
      revision,
      session,
      key,
      caller,
      created,
      place,
      epoch,
      head,
      state,
      signals,
      cancelled,
      outcome,
      worker: this.#shared(worker),
      asking,
      wake,
      seq,
      time,
    };
  }

  #originOf(seen: Seen, before: Known | undefined): (Origin & { created: number; place: number }) | undefined {
    if (seen.origin === undefined) return before;
    const origin = originOf(seen.origin);
    const [agent, tenant] = [this.#shared(origin.agent), this.#shared(origin.tenant)];
    return { ...origin, agent, tenant, created: seen.time, place: seen.seq };
  }

  /** Interned: few agents and workers, many runs. */
  #shared(text: string): string {
    const there = this.#texts.get(text);
    if (there !== undefined) return there;
    if (this.#texts.size > 10_000) this.#texts.clear();
    this.#texts.set(text, text);
    return text;
  }

  #enter(known: Known): void {
    const { run, tenant, state, session, worker } = known;
    if (state === "ready") this.#ready.set(run, known);
    if (state === "waiting") this.#waiting.set(run, known);
    if (state === "waiting" && known.wake > 0) this.#sleeping.set(run, known);
    if (state === "running") {
      const runs = this.#running.get(worker);
      if (runs) runs.set(run, known);
      else this.#running.set(worker, new Map([[run, known]]));
    }
    if (session !== undefined && (state === "running" || state === "waiting")) this.#count(within(tenant, session), 1);
  }

  #leave({ run, tenant, state, session, worker }: Known): void {
    this.#ready.delete(run);
    this.#waiting.delete(run);
    this.#sleeping.delete(run);
    const runs = this.#running.get(worker);
    if (state === "running" && runs?.delete(run) && runs.size === 0) this.#running.delete(worker);
    if (session !== undefined && (state === "running" || state === "waiting")) this.#count(within(tenant, session), -1);
  }

  #count(session: string, step: 1 | -1): void {
    const count = (this.#busy.get(session) ?? 0) + step;
    if (count > 0) this.#busy.set(session, count);
    else this.#busy.delete(session);
  }
}
