import { claimedRequest } from "venturi/internal";
import type { Claim, ClaimFilter, Ownership } from "venturi/plugin";
import { inOrder } from "./catalog.ts";
import { change } from "./changes.ts";
import type { Known } from "./known.ts";
import { type Names, untoken, within } from "./names.ts";
import { readRequest } from "./requests.ts";
import type { Sessions } from "./sessions.ts";
import { fence, type Standing, standingIn, standingText, type Tail } from "./standing.ts";
import { lastLimit, type Store } from "./store.ts";
import { empty } from "./stored.ts";
import type { Tails } from "./tails.ts";
import type { View } from "./view.ts";

export interface ClaimsOptions {
  readonly store: Store;
  readonly names: Names;
  readonly view: View;
  readonly tails: Tails;
  readonly sessions: Sessions;
  readonly lease: number;
}

export interface Wanted extends ClaimFilter {
  readonly worker: string;
  readonly limit: number;
}

/** Whether a worker whose last write was at `time` has lost its lease. */
type Silent = (worker: string, time: number) => boolean;

const op = "journal.claim";
/** Stale heartbeats expire; a worker without one has lost its lease. */
const beatKept = 3_600;
/** Interval of checks for parked runs, ms. */
const wakeEvery = 200;

/**
 * A claim is a message that starts an epoch, stored directly after the run's last one: of two claimers one is refused. The view
 * suggests what to try; if it is wrong the claim is refused.
 */
export class Claims {
  readonly #options: ClaimsOptions;
  readonly #beats = new Map<string, number>();
  #nobodySilentUntil = 0;
  #woken = Number.NEGATIVE_INFINITY;

  constructor(options: ClaimsOptions) {
    this.#options = options;
  }

  async beat(operation: string, worker: string): Promise<void> {
    const { store, names, lease } = this.#options;
    const seconds = Math.max(beatKept, Math.ceil((lease * 4) / 1_000));
    const headers = `Nats-TTL: ${seconds}s\r\n`;
    await store.put(operation, { subject: names.worker(worker), headers, data: empty });
    this.#beats.set(worker, performance.now());
  }

  async release({ run, epoch }: Ownership): Promise<void> {
    await change(this.#options, { op: "journal.release", run }, (tail) => {
      if (tail.epoch !== epoch || tail.state !== "running") return undefined;
      this.#options.tails.delete(run, epoch);
      return { kind: "x", standing: { ...tail, state: "ready" }, data: empty };
    });
  }

  async claim(wanted: Wanted): Promise<Claim[]> {
    const { view } = this.#options;
    // Frequent claims, one per hint, need not each write a heartbeat.
    const beaten = this.#beats.get(wanted.worker) ?? Number.NEGATIVE_INFINITY;
    if (performance.now() - beaten > this.#options.lease / 10) await this.beat(op, wanted.worker);
    const claims: Claim[] = [];
    const candidates = [...(await this.#awake(wanted)), ...this.#ready(wanted)];
    // Some turn out to be taken or not to be next in their session; the candidates behind them move up.
    while (candidates.length > 0 && claims.length < wanted.limit) {
      const asked = candidates.splice(0, wanted.limit - claims.length).map((known) => this.#claimNext(known, wanted));
      claims.push(...(await Promise.all(asked)).filter((claim) => claim !== undefined));
    }
    if (claims.length < wanted.limit) claims.push(...(await this.#abandoned(wanted, wanted.limit - claims.length)));
    return claims.sort((left, right) => {
      const [one, other] = [view.get(left.ownership.run), view.get(right.ownership.run)];
      return one && other ? inOrder(one, other) : 0;
    });
  }

  /** All runs under the worker's name. */
  async held(operation: string, worker: string): Promise<Ownership[]> {
    const { view, tails } = this.#options;
    const found = await Promise.all(
      view.heldBy(worker).map(async ({ run, session, epoch }) => {
        const tail = tails.get(run) ?? (await tails.read(operation, run));
        if (tail?.epoch !== epoch || tail.state !== "running") return undefined;
        return { run, session, epoch, worker, head: tail.head };
      }),
    );
    return found.filter((ownership) => ownership !== undefined);
  }

  /** Matching ready runs, one per free session. */
  #ready(wanted: Wanted): Known[] {
    const { view } = this.#options;
    const sessions = new Set<string>();
    return view.ready().filter((known) => {
      const { tenant, session } = known;
      if (!passes(known, wanted)) return false;
      if (session === undefined || known.cancelled) return true;
      const name = within(tenant, session);
      if (sessions.has(name) || view.isBusy(known)) return false;
      sessions.add(name);
      return true;
    });
  }

  /** Parked runs whose time has come, by the engine's clock. */
  async #awake(wanted: Wanted): Promise<Known[]> {
    const { store, names, view } = this.#options;
    const sleeping = view.sleeping().filter((known) => passes(known, wanted));
    if (sleeping.length === 0 || performance.now() - this.#woken < wakeEvery) return [];
    this.#woken = performance.now();
    await this.beat(op, wanted.worker);
    const now = (await store.last(op, names.index, names.worker(wanted.worker)))?.time ?? 0;
    return sleeping.filter(({ time, wake }) => now >= time + wake);
  }

  /** Takes over runs of workers whose lease has expired. */
  async #abandoned(wanted: Wanted, limit: number): Promise<Claim[]> {
    const { view, lease } = this.#options;
    const { worker } = wanted;
    const others = view.workers().filter((other) => other !== worker);
    // Usually there are none, so check only once per fraction of a lease.
    if (others.length === 0 || performance.now() < this.#nobodySilentUntil) return [];
    const silent = await this.#silent(worker, others);
    const lost = others.flatMap((other) => view.heldBy(other).filter(({ time }) => silent(other, time)));
    const candidates = lost.filter((known) => passes(known, wanted));
    if (lost.length === 0) this.#nobodySilentUntil = performance.now() + lease / 8;
    const claims = await Promise.all(candidates.slice(0, limit).map((known) => this.#claim(known, worker, silent)));
    return claims.filter((claim) => claim !== undefined);
  }

  /** Claims the run, or the one whose turn it is in its session: storage order may differ from queue order. */
  async #claimNext(known: Known, wanted: Wanted): Promise<Claim | undefined> {
    const { view, sessions } = this.#options;
    const { tenant, session, run } = known;
    // A parked run kept its session's turn.
    if (session === undefined || known.cancelled || known.state === "waiting") return this.#claim(known, wanted.worker);
    const first = await sessions.first(op, { tenant, session });
    const next = first === undefined || first === run ? known : view.get(first);
    return next?.state === "ready" && passes(next, wanted) ? this.#claim(next, wanted.worker) : undefined;
  }

  /** `silent`: takes it over from another worker. */
  async #claim(known: Known, worker: string, silent?: Silent): Promise<Claim | undefined> {
    const { store, names, view, tails } = this.#options;
    const { run, tenant, session } = known;
    // No events follow the last state change of a ready run; after that of a running one there may be some.
    const tail: Tail | undefined = silent ? await tails.read(op, run) : known;
    if (!tail) {
      view.forget(run);
      return undefined;
    }
    if (silent && !isAbandoned(known, tail, silent)) return undefined;
    const { epoch, head, signals } = tail;
    const next: Standing = { ...standingIn(tail), epoch: epoch + 1, state: "running", worker, wake: 0 };
    const standing = standingText(next, { first: 0, claim: true });
    const write = {
      subject: names.run(run, "x"),
      fence: fence(tail.seq, names.run(run, "*")),
      headers: `V: ${standing}\r\n`,
      data: empty,
    };
    const [ack, asked] = await Promise.all([store.write(op, write), readRequest(op, this.#options, run)]);
    if (ack.kind === "stale") await this.#refresh(run);
    if (ack.kind !== "stored" || !asked) return undefined; // A claim whose response was lost is found by `held`.
    const time = Date.now();
    view.apply({ run, shard: known.shard, kind: "x", seq: ack.seq, time, standing });
    tails.set(run, { ...next, seq: ack.seq, time });
    const ownership = { run, session, epoch: next.epoch, worker, head };
    return { ownership, tenant, ...claimedRequest(asked.request, known.agent), signals };
  }

  /** Corrects the view after a refused claim. */
  async #refresh(run: string): Promise<void> {
    const { view, tails, names } = this.#options;
    const last = await tails.last(op, run);
    if (!last) {
      view.forget(run);
      return;
    }
    const { seq, time } = last;
    view.apply({ run, shard: names.shardOf(run), kind: "x", seq, time, standing: last.header("V") ?? "", asked: true });
  }

  /** By the stream's clock: the age of each worker's heartbeat, relative to the asking worker's own of just now. */
  async #silent(worker: string, others: readonly string[]): Promise<Silent> {
    const { store, names, lease } = this.#options;
    await this.beat(op, worker);
    const mine = await store.last(op, names.index, names.worker(worker));
    const now = mine?.time ?? Date.now();
    const seen = new Map<string, number>();
    for (let at = 0; at < others.length; at += lastLimit) {
      const subjects = others.slice(at, at + lastLimit).map((other) => names.worker(other));
      // A replica that has not reached our own heartbeat may lack others' too, and they would look dead.
      for (const beat of await store.lastOfEach(op, names.index, { subjects, atLeast: mine?.seq ?? 0 }))
        seen.set(untoken(beat.subject.split(".").at(-1) ?? ""), beat.time);
    }
    const isOld = (time: number | undefined) => time === undefined || Math.abs(now - time) > lease;
    return (other, time) => isOld(time) && isOld(seen.get(other));
  }
}

/** Any worker may claim a cancelled run: it only needs to be ended. */
const passes = ({ run, agent, revision, cancelled }: Known, { agents, revisions, runs }: ClaimFilter): boolean =>
  cancelled ||
  runs?.includes(run) === true ||
  ((agents === undefined || agents.includes(agent)) &&
    (revisions === undefined || revision === undefined || revisions.includes(revision)));

const isAbandoned = (known: Known, tail: Tail, silent: Silent): boolean =>
  tail.state === "running" && tail.epoch === known.epoch && silent(tail.worker, tail.time);
