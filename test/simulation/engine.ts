import { MemoryJournal } from "../../plugins/memory/journal.ts";
import type { Append, Claim, Journal, Ownership, Signal } from "../../src/core/journal/journal.ts";
import type { Reservation, Reserved } from "../../src/core/journal/money.ts";
import { isTerminal, type RunEvent } from "../../src/core/run/events.ts";
import { isAnswered } from "../../src/core/run/questions.ts";
import { Answers } from "./answers.ts";
import type { Coverage } from "./coverage.ts";
import { Spending } from "./money.ts";
import { Owners, type Ownings } from "./owners.ts";
import { Power } from "./power.ts";
import type { Profile } from "./profile.ts";
import { Queue } from "./queue.ts";
import type { DiskJournal } from "./sqlite/store.ts";
import type { Life, World } from "./world.ts";

/**
 * The model of every journal's promises: one linearizable store on its own clock, which never fails itself. What goes wrong
 * happens between it and the processes, in `connect`.
 */
export class Engine {
  readonly inner: Journal;
  /** In place of a store that never fails itself: SQLite, on a disk that may lose power. */
  readonly sqlite: DiskJournal | undefined;
  readonly world: World;
  readonly profile: Profile;
  readonly coverage: Coverage;
  /** No more faults: from here on everything has to come to its end. */
  calm = false;
  full = false;
  readonly cutOff = new Set<Life>();
  readonly events = new Map<string, RunEvent[]>();
  readonly #encoded = new Map<string, string[]>();
  readonly #owners = new Owners();
  /** When their first and their last event were stored; forks begin with the events of another run. */
  readonly startedAt = new Map<string, number>();
  readonly endedAt = new Map<string, number>();
  readonly #sessions = new Map<string, string>();
  readonly spending = new Spending(this);
  readonly power = new Power(this, (run, events) => this.#keep(run, events));
  readonly #said = new Answers(this);
  /** What each process can execute, by its name. */
  readonly agentsOf = new Map<string, () => ReadonlyMap<string, unknown>>();
  /** Told of each start and each value that was stored. */
  readonly observers: ((method: string, given: readonly unknown[], answer: unknown) => void)[] = [];
  /** Told of each event that was stored. */
  readonly onStored: ((event: RunEvent) => void)[] = [];

  constructor(
    world: World,
    profile: Profile,
    coverage: Coverage,
    options: { lease?: number; sqlite?: DiskJournal } = {},
  ) {
    this.world = world;
    this.profile = profile;
    this.coverage = coverage;
    const never = () => {
      throw new Error("the store waits for nothing");
    };
    const clock = { now: () => Math.floor(world.now), monotonic: () => world.now, after: never, turn: never };
    this.sqlite = options.sqlite;
    this.#queue = new Queue(this);
    this.inner = options.sqlite ?? new MemoryJournal({ clock, keep: 1_000_000, lease: options.lease ?? storeLease });
  }

  head(run: string): number {
    return this.events.get(run)?.length ?? 0;
  }

  /** Whether this is the event as it was stored. */
  isStored(event: RunEvent): boolean {
    const stored = this.events.get(event.run)?.[event.seq - 1];
    return stored === event || this.#isSame(event);
  }

  /** Events that were changed after they were stored. */
  changed(): RunEvent[] {
    return [...this.events.values()].flat().filter((event) => this.#encoded.has(event.run) && !this.#isSame(event));
  }

  #isSame(event: RunEvent): boolean {
    return this.#encoded.get(event.run)?.[event.seq - 1] === JSON.stringify(event);
  }

  ownerOf(run: string): Ownings | undefined {
    return this.#owners.of(run);
  }

  /** Whether this process has ever executed it. */
  wasOwnedBy(run: string, worker: string): boolean {
    return this.#owners.firstBy(worker, run) !== undefined;
  }

  isEnded(run: string): boolean {
    return this.endedAt.has(run);
  }

  /** Whether any other run was claimed and has not ended. */
  hasOpen(but: string): boolean {
    return [...this.#owners.runs].some((run) => run !== but && !this.isEnded(run));
  }

  /** One call in one step: its linearization point. Everything that may be said about ownership is checked here. */
  apply(method: string, given: readonly unknown[]): unknown {
    const answer = this.#apply(method, given);
    if (this.sqlite !== undefined && answer instanceof Promise)
      this.power.watch(this.sqlite, { method, given }, answer);
    return answer;
  }

  #apply(method: string, given: readonly unknown[]): unknown {
    if (method === "append") return this.#append(given[0] as readonly Append[]); // as connect calls it
    const answer = this.#operation(method)(...given);
    switch (method) {
      case "claim":
        answer.then((claims) => this.#claimed(claims as Claim[]), nothing);
        break;
      case "signal":
        answer.then((taken) => taken === true && this.#signalled(given as never), nothing);
        break;
      case "reserve":
        answer.then((reserved) => this.spending.reserved(given[0] as Reservation, reserved as Reserved), nothing);
        break;
      case "keyValues.put":
        answer.then((value) => this.#observe(method, given, value), nothing);
        break;
      case "enqueue":
        answer.then((enqueued) => {
          this.#observe(method, given, enqueued);
          this.#enqueued(enqueued as { run: string; existing: boolean });
        }, nothing);
        break;
      case "release":
        this.released.add((given[0] as Ownership).run);
        break;
      case "prune":
        for (const run of (given[0] as { runs?: readonly string[] }).runs ?? []) {
          this.#gone.add(run);
          if (this.isEnded(run)) answer.then(() => this.#erasedAt.set(run, this.world.now), nothing);
        }
        break;
      case "restore":
        answer.then(() => this.#restored(given[0] as { run: string }), nothing);
        break;
    }
    return answer;
  }

  readonly #operations = new Map<string, Operation>();
  #operation(method: string): Operation {
    let found = this.#operations.get(method);
    if (found === undefined) {
      const [place, name = ""] = method.includes(".")
        ? [this.inner.keyValues, method.split(".")[1]]
        : [this.inner, method];
      found = (place as unknown as Record<string, Operation>)[name]?.bind(place);
      if (found === undefined) throw new Error(`the store has no ${method}`);
      this.#operations.set(method, found);
    }
    return found;
  }

  #observe(method: string, given: readonly unknown[], value: unknown): void {
    for (const observe of this.observers) observe(method, given, value);
  }

  #enqueued({ run, existing, ...enqueued }: { run: string; existing: boolean }): void {
    if (existing && this.isGone(run)) this.coverage.count("start repeated after the removal");
    this.power.accepted.add(run);
    const claims = claimIn(enqueued);
    if (!existing && claims.length === 0) this.#queue.entered(run);
    this.#claimed(claims);
  }

  readonly #queue: Queue;

  readonly #gone = new Set<string>();
  isGone(run: string): boolean {
    return this.#gone.has(run);
  }

  /** Ended runs that are removed for good. */
  readonly #erasedAt = new Map<string, number>();
  /** Whether it was erased before this process has ever claimed the other one. */
  wasErasedBefore(run: string, { claimed, worker }: { claimed: string; worker: string }): boolean {
    const claim = this.#owners.firstBy(worker, claimed);
    return claim !== undefined && (this.#erasedAt.get(run) ?? Number.POSITIVE_INFINITY) < claim.at;
  }

  async #restored({ run }: { run: string }): Promise<void> {
    this.restored.add(run);
    this.#keep(run, await this.inner.read(run, 0, 1_000_000));
  }

  #append(batch: readonly Append[]): ReadonlySet<Ownership> | Promise<ReadonlySet<Ownership>> {
    const fenced = this.inner.append(batch);
    return fenced instanceof Promise ? fenced.then((set) => this.#appended(batch, set)) : this.#appended(batch, fenced);
  }

  #appended(batch: readonly Append[], fenced: ReadonlySet<Ownership>): ReadonlySet<Ownership> {
    for (const item of batch) {
      const { run, epoch, worker } = item.ownership;
      const first = item.events[0]?.seq ?? 0;
      if (item.events.length === 0 && item.state === undefined)
        this.world.violated(`${run}: an append of ${worker} has nothing to store`);
      if (fenced.has(item.ownership)) {
        this.coverage.count("fenced append");
        // A late copy without events, older than what is stored: its answer goes to nobody, and there is nothing to compare.
        const isStale = item.events.length === 0 && item.ownership.head < this.head(run);
        if (
          !isStale &&
          !this.#owners.isLater(run, epoch) &&
          !this.isEnded(run) &&
          this.ownerOf(run)?.worker === worker &&
          !this.released.has(run)
        )
          this.world.violated(`${worker} was told that it is fenced, but nobody else owns ${run}`);
        continue;
      }
      if (first <= this.head(run)) {
        if (item.events.length > 0) this.coverage.count("append repeated");
        continue;
      }
      if (this.#owners.isLater(run, epoch, first))
        this.world.violated(`${run}: event ${first} was written by epoch ${epoch}, which is fenced`);
      this.#keep(run, item.events);
      this.coverage.stored(item.events);
      for (const event of item.events) this.spending.stored(event);
      if (item.state === "waiting") this.coverage.count("park");
      if (item.state === "ready") this.released.add(run);
      if (item.state === "done") this.#leave(run);
    }
    return fenced;
  }

  /** Forks. */
  readonly restored = new Set<string>();
  readonly released = new Set<string>();
  #keep(run: string, events: readonly RunEvent[]): void {
    const stored = this.events.get(run) ?? [];
    const encoded = this.#encoded.get(run) ?? [];
    this.events.set(run, stored);
    for (const event of events) {
      if (event.seq !== stored.length + 1) this.world.violated(`${run}: event ${event.seq} follows ${stored.length}`);
      if (this.endedAt.has(run)) this.world.violated(`${run}: ${event.type} after its end`);
      if (event.seq === 1 && !this.restored.has(run)) this.startedAt.set(run, this.world.now);
      if (isTerminal(event)) this.endedAt.set(run, this.world.now);
      stored.push(event);
      // Where processes share objects, what they see is what is stored, and nothing has to be compared.
      if (this.profile.apart) encoded.push(JSON.stringify(event));
      if (this.world.trace !== undefined) this.world.note(`store: ${run} ${event.seq} ${event.type}`);
      for (const observe of this.onStored) observe(event);
      if (isAnswered(event)) this.#said.resolved(run, event.call);
    }
    if (this.profile.apart) this.#encoded.set(run, encoded);
  }

  #claimed(claims: readonly Claim[]): void {
    for (const { ownership, request, tenant } of claims) {
      const { run, epoch, worker, head } = ownership;
      this.released.delete(run);
      this.#owners.add({ run, epoch, worker, head, at: this.world.now });
      this.world.note(`store: ${worker} owns ${run}, epoch ${epoch}, from ${head}`);
      if (epoch > 1) this.coverage.count("takeover");
      if (epoch === 1) this.#queue.begun(run);
      if (this.agentsOf.get(worker)?.().has(request.agent) === false && !this.cancelled.has(run))
        this.world.violated(`${worker} has claimed ${run}, whose agent ${request.agent} it does not have`);
      if (request.session !== undefined) this.#enter(`${tenant} ${request.session}`, run);
    }
  }

  /** Two runs of one session never write at the same time; a cancelled one may end out of turn. */
  #enter(session: string, run: string): void {
    const other = this.#sessions.get(session);
    this.#sessions.set(session, run);
    if (other === undefined || other === run || this.isEnded(other)) return;
    if (!this.cancelled.has(run) && !this.cancelled.has(other))
      this.world.violated(`${run} and ${other} of one session are executed at the same time`);
  }

  #signalled([run, signal]: readonly [string, Signal & { readonly body: { readonly call?: string } }]): void {
    this.power.signals.set(run, [...(this.power.signals.get(run) ?? []), signal.id]);
    this.#said.signalled(run, signal);
  }

  readonly cancelled = new Set<string>();

  #leave(run: string): void {
    for (const [session, owner] of this.#sessions) if (owner === run) this.#sessions.delete(session);
  }
}

type Operation = (...given: readonly unknown[]) => Promise<unknown>;

export const storeLease = 10_000;
const nothing = () => {};
const claimIn = (enqueued: unknown): readonly Claim[] => {
  const { claim } = enqueued as { claim?: Claim };
  return claim === undefined ? [] : [claim];
};
