import { Catalog, type Known, type WalkOptions } from "./catalog.ts";
import { within } from "./names.ts";
import { type Origin, originOf, standingIn, standingOf } from "./standing.ts";

/** A state change, delivered by a stream or just written by this process. */
export interface Seen {
  readonly run: string;
  readonly shard: number;
  readonly kind: string;
  readonly seq: number;
  readonly time: number;
  /** The headers `V` and, for a request, `Q`. */
  readonly standing: string;
  readonly origin?: string | undefined;
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
  /** By shard, the last sequence applied, whether delivered or written here. */
  readonly applied: number[];

  constructor(shards: number, changed: (known: Known, kind: string) => void) {
    this.#runs = new Catalog(shards);
    this.applied = Array.from({ length: shards }, () => 0);
    this.#changed = changed;
  }

  get(run: string): Known | undefined {
    return this.#runs.get(run);
  }

  walk(options: WalkOptions): Generator<Known> {
    return this.#runs.walk(options);
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

  /** Unfinished runs. */
  *open(): Generator<Known> {
    yield* this.#ready.values();
    yield* this.#waiting.values();
    for (const runs of this.#running.values()) yield* runs.values();
  }

  apply(seen: Seen): void {
    const { run, seq, time, shard } = seen;
    this.applied[shard] = Math.max(this.applied[shard] ?? 0, seq);
    const before = this.#runs.get(run);
    if (before && before.seq >= seq) {
      this.#correct(before, seen);
      return;
    }
    const origin = this.#originOf(seen, before);
    if (!origin || origin.void) return;
    const { agent, tenant, revision, session, key, caller, created, place } = origin;
    const parsed = standingIn(standingOf(seen.standing));
    const standing = { ...parsed, worker: this.#shared(parsed.worker) };
    const known: Known = {
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
      ...standing,
      seq,
      time,
    };
    this.keep(known);
    this.#changed(known, seen.kind);
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

  /** This process's own writes are applied before the stream delivers their time. */
  #correct(before: Known, { seq, time }: Seen): void {
    if (before.seq !== seq && before.place !== seq) return;
    const created = before.place === seq ? time : before.created;
    this.keep({ ...before, created, time: before.seq === seq ? time : before.time });
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

/** Order of arrival: exact within a shard, by engine time across shards. */
export const inOrder = (left: Known, right: Known): number =>
  left.shard === right.shard ? left.place - right.place : left.created - right.created || left.shard - right.shard;
